import { Button, Checkbox } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment } from "react";
import { api, unwrapData } from "../../api/client";
import { asApiError } from "../../api/errors";
import { meQuery, usePermissionCheck } from "../../api/queries";
import type { components } from "../../api/schema";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { Sheet } from "../../shared/patterns/sheet";
import { translateSentence } from "../../shared/sentences/sentences";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { groupNotificationTypes } from "./preference_groups";
import style from "./preferences.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/notifications");
const WAYS = ["in_app", "email", "team_chat"] as const;
type Way = (typeof WAYS)[number];
type Saved = components["schemas"]["PreferencesOut"];
type Ways = Saved["preferences"][string];
const KEY = ["notifications", "preferences"];

const isKnownType = (type: string) => `type_${type}` in en;
/** A type that a workflow made up has no words of its own. */
const nameOfType = (type: string) => (isKnownType(type) ? say(`type_${type}` as keyof typeof en) : type);

const sendTests = () =>
  Promise.all(
    (["in_app", "email"] as const).map((channel_type) =>
      unwrapData(api.POST("/api/v1/notifications/test", { body: { channel_type } as never })),
    ),
  );

/** How each type of notification arrives; a choice acts at once. */
export default function PreferencesPage() {
  const list = useQuery({ queryKey: KEY, queryFn: () => unwrapData(api.GET("/api/v1/notifications/preferences")) });
  const test = useMutation({ mutationFn: sendTests });
  const refused = test.data?.filter(({ success }) => !success) ?? [];
  return (
    <>
      <PageBar trail={[{ label: say("title"), to: "/inbox" }]} title={say("preferencesShort")}>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          {say("testMe")}
        </Button>
      </PageBar>
      <Sheet width={820}>
        <WhereItGoes />
        <div role="status" className={style.status}>
          {test.error && <Note tone="bad">{asApiError(test.error).message}</Note>}
          {test.data && refused.length === 0 && <Note tone="ok">{say("testArrived")}</Note>}
          {refused.map(({ channel_type: way, message }) => (
            <Note key={way} tone="bad">
              {translateSentence(message)}
            </Note>
          ))}
        </div>
        {list.error && !list.data && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
        {!list.error && !list.data && <RowSkeletons rows={6} columns={[240, 60]} />}
        {list.data && <PreferenceMatrix preferences={list.data.preferences} />}
      </Sheet>
    </>
  );
}

/** Where mails and the team chat lead; the channel is named to those who may see channels. */
function WhereItGoes() {
  const { data: me } = useQuery(meQuery);
  const maySee = usePermissionCheck()("notification_channels:read");
  const chats = useQuery({
    queryKey: ["channels", "active", "team_chat"],
    queryFn: () =>
      unwrapData(
        api.GET("/api/v1/notification-channels/active/{channel_type}", {
          params: { path: { channel_type: "team_chat" } },
        }),
      ),
    enabled: maySee,
  });
  const first = chats.data?.data[0];
  return (
    <p className={`card t-13 ${style.lead}`}>
      {say("mailsGoTo", { email: me?.email ?? "" })}{" "}
      {first ? say("chatGoesTo", { name: first.name }) : say(chats.data ? "noChat" : "chatIsOne")} {say("actsAtOnce")}
    </p>
  );
}

function PreferenceMatrix({ preferences }: { preferences: Record<string, Ways> }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: ({ type, way, isOn }: { type: string; way: Way; isOn: boolean }) =>
      unwrapData(api.PUT("/api/v1/notifications/preferences", { body: { preferences: { [type]: { [way]: isOn } } } })),
    onMutate: ({ type, way, isOn }) => {
      const before = client.getQueryData<Saved>(KEY);
      const ways = before?.preferences[type];
      if (before && ways)
        client.setQueryData<Saved>(KEY, { preferences: { ...before.preferences, [type]: { ...ways, [way]: isOn } } });
      return before;
    },
    onError: (_error, _choice, before) => client.setQueryData(KEY, before),
    onSuccess: (saved) => client.setQueryData(KEY, saved),
  });
  return (
    <>
      <RefusalNote error={change.error} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div className={`card ${style.frame}`} tabIndex={0} role="group" aria-label={say("preferences")}>
        <table className={style.matrix}>
          <caption className="sr">{say("preferences")}</caption>
          <thead>
            <tr>
              <th scope="col">{say("tellMeWhen")}</th>
              {WAYS.map((way) => (
                <th key={way} scope="col">
                  {say(way)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groupNotificationTypes(Object.keys(preferences)).map(({ group, types }) => (
              <Fragment key={group}>
                <tr className={style.group}>
                  <th colSpan={WAYS.length + 1} scope="colgroup">
                    {say(`group_${group}`)}
                  </th>
                </tr>
                {types.map((type) => (
                  <tr key={type}>
                    <th scope="row">
                      {nameOfType(type)}{" "}
                      {isKnownType(type) && <span className={`t-12 t-3 mono ${style.key}`}>{type}</span>}
                    </th>
                    {WAYS.map((way) => (
                      <td key={way}>
                        <Checkbox
                          aria-label={`${nameOfType(type)}: ${say(way)}`}
                          checked={preferences[type]?.[way] ?? false}
                          onChange={(event) => change.mutate({ type, way, isOn: event.currentTarget.checked })}
                        />
                      </td>
                    ))}
                  </tr>
                ))}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
