import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, useDeferredValue, useEffect, useRef } from "react";
import { asApiError } from "../../api/errors";
import { meQuery, useMay } from "../../api/queries";
import { agentQuery } from "../../shared/agent/queries";
import { Channel } from "../../shared/chat/channel";
import { isDemoKnown, type Turn } from "../../shared/chat/chat";
import { Compacted } from "../../shared/chat/compacted";
import { Reply } from "../../shared/chat/reply";
import { words } from "../../shared/i18n/words";
import { usePerson } from "../../shared/versions/queries";
import style from "./chat.module.css";
import { ConversationStatus } from "./conversation_status";
import type { Earlier } from "./earlier";
import { Near } from "./near";
import type { ConversationDetail } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/chat");
/** Longer conversations are drawn only where one looks. */
const MAX_DRAWN = 20;
const REPLY_PX = 320;

type Props = {
  conversation: ConversationDetail;
  earlier: Earlier;
  chosen?: string;
  isAsked: boolean;
  onTrace: (id: string) => void;
};

/** What was said, the last part of a long conversation first; earlier parts come on request. */
export function Transcript({ conversation, earlier, onTrace, ...turn }: Props) {
  // The turn that was clicked opens first; its reply is marked and brought into sight after that.
  const chosen = useDeferredValue(turn.chosen);
  const isAsked = useDeferredValue(turn.isAsked);
  const body = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!chosen || !isAsked || window.matchMedia("(max-width: 860px)").matches) return;
    body.current?.querySelector("[data-chosen]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, isAsked]);
  const { turns } = earlier;
  return (
    <section
      className={style.text}
      ref={body}
      aria-label={say("transcript")}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
    >
      <Facts conversation={conversation} />
      {earlier.hiddenMessages > 0 && (
        <div className="row g8 wrap">
          <span className="t-12 t-3 num grow" role="status">
            {earlier.error ? asApiError(earlier.error).message : say("older", { count: earlier.messages.length })}
          </span>
          <Button size="xs" variant="default" loading={earlier.isLoading} onClick={earlier.load}>
            {say("earlier")}
          </Button>
        </div>
      )}
      {conversation.compaction && !turns.some((one) => one.stop?.compaction) && (
        <Compacted compaction={conversation.compaction} isBefore />
      )}
      {turns.length === 0 && <p className="t-3">{say("noMessages")}</p>}
      <Replies turns={turns} chosen={chosen} onTrace={onTrace} />
    </section>
  );
}

type RepliesProps = { turns: Turn[]; chosen?: string; onTrace: (id: string) => void };

const Replies = memo(function Replies({ turns, chosen, onTrace }: RepliesProps) {
  return turns.map((turn) => {
    const traceId = turn.stop?.trace_id;
    const isChosen = Boolean(traceId) && traceId === chosen;
    return (
      <Near key={turn.id} height={REPLY_PX} isAlways={isChosen || turns.length <= MAX_DRAWN}>
        <Reply turn={turn} isDemoKnown={isDemoKnown(turn, turns)} onTrace={onTrace} isChosen={isChosen} />
      </Near>
    );
  });
});

function Facts({ conversation }: { conversation: ConversationDetail }) {
  const may = useMay();
  const { data: me } = useQuery(meQuery);
  const { user_id: userId, agent_id: agentId } = conversation;
  const mayRead = may("agents:read");
  const { data: agent } = useQuery({ ...agentQuery(agentId), enabled: mayRead });
  const person = usePerson(userId ?? "");
  const who = !userId ? say("visitor") : userId === me?.id ? say("you") : (person ?? say("colleague"));
  return (
    <dl className={style.facts}>
      <div>
        <dt>{say("who")}</dt>
        <dd title={userId ?? undefined}>{who}</dd>
      </div>
      <div>
        <dt>{say("channel")}</dt>
        <dd>
          <Channel of={conversation.channel} />
        </dd>
      </div>
      <div>
        <dt>{say("agent")}</dt>
        <dd>
          {mayRead ? (
            <Link className="inline-link" to="/agents/$agentId" params={{ agentId }}>
              {agent?.name ?? agentId}
            </Link>
          ) : (
            agentId
          )}
        </dd>
      </div>
      <div>
        <dt>{say("state")}</dt>
        <dd>
          <ConversationStatus status={conversation.status} />
        </dd>
      </div>
    </dl>
  );
}
