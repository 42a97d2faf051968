import Check from "icon:check";
import Link2 from "icon:link-2";
import LockKeyhole from "icon:lock-keyhole";
import UserPlus from "icon:user-round-plus";
import Users from "icon:users-round";
import X from "icon:x";
import { ActionIcon, Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentType, useState } from "react";
import { meQuery, tenantQuery } from "../../../api/queries";
import {
  type ConversationShare,
  type ConversationShareChange,
  conversationShareQuery,
  endConversationShare,
  shareConversation,
} from "../../../shared/conversations/share";
import { createTranslator } from "../../../shared/i18n/words";
import { Avatar } from "../../../shared/marks/avatar";
import { RefusalNote } from "../../../shared/patterns/refusal_note";
import { useNamesById } from "../../../shared/people/names";
import { ColleagueSearch } from "./colleague_search";
import style from "./share.module.css";
import { addressOfThread } from "./thread_address";
import { findShownEnd } from "./thread_session";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type Audience = "none" | ConversationShareChange["audience"];
const WAYS: [Audience, "onlyYou" | "peopleYouName" | "everyoneAt", ComponentType<{ size?: number }>][] = [
  ["none", "onlyYou", LockKeyhole],
  ["people", "peopleYouName", UserPlus],
  ["organization", "everyoneAt", Users],
];

/** Set who else reads a conversation, up to its newest message; null ends it. */
function useShareChange(conversationId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (change: ConversationShareChange | null): Promise<ConversationShare | null> => {
      if (change) return shareConversation(conversationId, change);
      await endConversationShare(conversationId);
      return null;
    },
    onSuccess: (share) => {
      client.setQueryData(conversationShareQuery(conversationId).queryKey, share);
      void client.invalidateQueries({ queryKey: ["chat", conversationId], exact: true });
      void client.invalidateQueries({ queryKey: ["chat", "own"] });
    },
  });
}

type Props = { conversationId: string; onClose: () => void };

/** Who reads this chat: oneself, some colleagues, or everybody of the organization who has the link. */
export function SharePopover({ conversationId, onClose }: Props) {
  const { data: share, error, isFetching, refetch } = useQuery(conversationShareQuery(conversationId));
  return (
    <div className="stack g10">
      <div className="row g8">
        <h2 className="t-sec grow">{say("whoReads")}</h2>
        <ActionIcon size={24} aria-label={say("close")} onClick={onClose}>
          <X size={14} />
        </ActionIcon>
      </div>
      {share !== undefined ? (
        <ShareChoice conversationId={conversationId} share={share} />
      ) : error ? (
        <>
          <RefusalNote error={error} />
          <Button size="xs" variant="default" loading={isFetching} onClick={() => void refetch()}>
            {say("tryAgain")}
          </Button>
        </>
      ) : (
        <span className="shim" role="status" aria-label={say("loading")} style={{ height: 34 }} />
      )}
    </div>
  );
}

type ChoiceProps = { conversationId: string; share: ConversationShare | null };

/** Who reads it now, and who shall. A change waits for the one before it, as it names all readers. */
function ShareChoice({ conversationId, share }: ChoiceProps) {
  const untilMessageId = findShownEnd(conversationId);
  const { data: me } = useQuery(meQuery);
  const { data: tenant } = useQuery(tenantQuery);
  const change = useShareChange(conversationId);
  const [isNaming, setNaming] = useState(false);
  const audience: Audience = isNaming ? "people" : (share?.audience ?? "none");
  const readers = share?.audience === "people" ? share.user_ids : [];
  const until = untilMessageId ? { until_message_id: untilMessageId } : {};
  const setReaders = (ids: string[]) => {
    setNaming(true);
    change.mutate(ids.length ? { audience: "people", user_ids: ids, ...until } : null);
  };
  const chooseAudience = (next: Audience) => {
    if (change.isPending) return;
    setNaming(next === "people");
    if (next === "organization") change.mutate({ audience: next, user_ids: [], ...until });
    if (next === "none" && share) change.mutate(null);
  };
  return (
    <>
      <RefusalNote error={change.error} />
      <div role="radiogroup" aria-label={say("whoReads")} className="stack g2">
        {WAYS.map(([way, label, Icon]) => (
          // biome-ignore lint/a11y/useSemanticElements: a row with a sign and a tick is no radio button of a form
          <button
            key={way}
            type="button"
            role="radio"
            aria-checked={audience === way}
            aria-disabled={change.isPending || undefined}
            className={style.way}
            onClick={() => chooseAudience(way)}
          >
            <Icon size={15} />
            <span className="grow">{say(label, { name: tenant?.name ?? say("yourOrganization") })}</span>
            {audience === way && <Check size={15} />}
          </button>
        ))}
      </div>
      {audience === "people" && (
        <ReaderList ids={readers} ownId={me?.id ?? ""} isBusy={change.isPending} onChange={setReaders} />
      )}
      {audience !== "none" && share && (
        <ShareFoot
          conversationId={conversationId}
          share={share}
          until={untilMessageId}
          isBusy={change.isPending}
          onExtend={() => change.mutate({ audience: share.audience, user_ids: share.user_ids, ...until })}
        />
      )}
      {audience === "none" && <p className="t-12 t-2">{say("nobodyElse")}</p>}
    </>
  );
}

type ReadersProps = { ids: string[]; ownId: string; isBusy: boolean; onChange: (ids: string[]) => void };

function ReaderList({ ids, ownId, isBusy, onChange }: ReadersProps) {
  const nameOf = useNamesById(ids);
  return (
    <div className="stack g8">
      {ids.length > 0 && (
        <ul className={style.readers} aria-label={say("readers")}>
          {ids.map((id) => {
            const name = nameOf(id) ?? say("somebody");
            return (
              <li key={id}>
                <Avatar name={name} />
                {name}
                <ActionIcon
                  size={24}
                  aria-label={say("removeReader", { name })}
                  disabled={isBusy}
                  onClick={() => onChange(ids.filter((one) => one !== id))}
                >
                  <X size={12} />
                </ActionIcon>
              </li>
            );
          })}
        </ul>
      )}
      <ColleagueSearch isBusy={isBusy} hiddenIds={[ownId, ...ids]} onChoose={(id) => onChange([...ids, id])} />
    </div>
  );
}

type FootProps = {
  conversationId: string;
  share: ConversationShare;
  until: string | undefined;
  isBusy: boolean;
  onExtend: () => void;
};

/** Up to where others read, and the link to hand on. */
function ShareFoot({ conversationId, share, until, isBusy, onExtend }: FootProps) {
  const [isCopied, setCopied] = useState(false);
  const link = addressOfThread(conversationId);
  const copyLink = async () => {
    await navigator.clipboard.writeText(link);
    setCopied(true);
  };
  const isBehind = until && until !== share.until_message_id;
  return (
    <>
      <p className="t-12 t-2">{say("whatTheyRead")}</p>
      {isBehind && (
        <p className="t-12 row g8 wrap">
          <span className="grow">{say("newerNotShared")}</span>
          <Button size="compact-xs" variant="default" disabled={isBusy} onClick={onExtend}>
            {say("shareNewer")}
          </Button>
        </p>
      )}
      <div className="row g6 wrap">
        {navigator.clipboard ? (
          <Button size="xs" leftSection={<Link2 size={13} />} onClick={() => void copyLink().catch(() => undefined)}>
            {say(isCopied ? "linkCopied" : "copyLink")}
          </Button>
        ) : (
          <code className="mono t-12">{link}</code>
        )}
      </div>
    </>
  );
}
