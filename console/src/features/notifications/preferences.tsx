import { Checkbox, Modal } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import { words } from "../../shared/i18n/words";
import { Failure, RowsLoading } from "../../shared/states/states";
import en from "./words.en.json";

const say = words(en, "features/notifications");
const WAYS = ["in_app", "email", "team_chat"] as const;
type Way = (typeof WAYS)[number];
type Saved = components["schemas"]["PreferencesOut"];
const KEY = ["notifications", "preferences"];

const isKnown = (type: string): type is keyof typeof en => type in en;
/** A type that a workflow made up has no words of its own. */
const nameOf = (type: string) => (isKnown(`type_${type}`) ? say(`type_${type}` as keyof typeof en) : type);

/** How each type of notification arrives; a choice acts at once. */
export default function Preferences({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const list = useQuery({ queryKey: KEY, queryFn: () => data(api.GET("/api/v1/notifications/preferences")) });
  const change = useMutation({
    mutationFn: ({ type, way, isOn }: { type: string; way: Way; isOn: boolean }) =>
      data(api.PUT("/api/v1/notifications/preferences", { body: { preferences: { [type]: { [way]: isOn } } } })),
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
    <Modal opened onClose={onClose} title={say("preferences")} size={560}>
      {list.error ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !list.data ? (
        <RowsLoading rows={4} columns={[120, 60]} />
      ) : (
        <div className="scroll-x">
          {change.error && (
            <div className="note bad" role="alert">
              {asApiError(change.error).message}
            </div>
          )}
          <table className="table">
            <caption className="sr">{say("preferences")}</caption>
            <thead>
              <tr>
                <th>{say("about")}</th>
                {WAYS.map((way) => (
                  <th key={way}>{say(way)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Object.entries(list.data.preferences).map(([type, ways]) => (
                <tr key={type}>
                  <td>{nameOf(type)}</td>
                  {WAYS.map((way) => (
                    <td key={way}>
                      <Checkbox
                        aria-label={`${nameOf(type)}: ${say(way)}`}
                        checked={ways[way]}
                        onChange={(event) => change.mutate({ type, way, isOn: event.currentTarget.checked })}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Modal>
  );
}
