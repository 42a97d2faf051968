import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { api } from "../../api/client";
import { meQuery, useMay } from "../../api/queries";
import { turnsOf } from "../../shared/chat/chat";
import { Reply } from "../../shared/chat/reply";
import { Bar } from "../../shared/frame/bar";
import { words } from "../../shared/i18n/words";
import { Id } from "../../shared/parts";
import { Failure, RowsLoading } from "../../shared/states/states";
import { MAX_MESSAGES, type Message, messagesQuery } from "../../shared/trace/queries";
import style from "./chat.module.css";
import { Channel, ConversationStatus } from "./parts";
import { agentNamesQuery, type Conversation, conversationQuery } from "./queries";
import { Turns } from "./turns";
import en from "./words.en.json";

const say = words(en);

export default function ConversationPage() {
  const { conversationId } = useParams({ from: "/frame/conversations/$conversationId" });
  const { turn, step } = useSearch({ from: "/frame/conversations/$conversationId" });
  const navigate = useNavigate();
  const may = useMay();
  const trace = useRef<HTMLElement>(null);
  const found = useQuery(conversationQuery(conversationId));
  const messages = useQuery(messagesQuery(conversationId));
  const trail = [{ label: say("title"), to: "/conversations" }];
  const error = found.error ?? messages.error;
  if (!found.data || !messages.data)
    return (
      <>
        <Bar trail={trail} title={error ? conversationId : "…"} />
        {error ? (
          <Failure error={error} onRetry={() => void found.refetch().then(() => messages.refetch())} />
        ) : (
          <RowsLoading columns={[30, 300]} />
        )}
      </>
    );
  const conversation = found.data;
  const last = messages.data.data.findLast((message) => message.details?.trace_id);
  const chosen = turn ?? last?.details?.trace_id ?? undefined;
  const choose = (next: { turn?: string; step?: string }) =>
    void navigate({
      to: "/conversations/$conversationId",
      params: { conversationId },
      search: { turn: chosen, ...next },
      replace: true,
    });
  const hasTraces = may("traces:read");
  return (
    <>
      <Bar
        trail={trail}
        title={conversation.title || say("untitled")}
        after={
          <span className="wide">
            <Id>{conversation.id}</Id>
          </span>
        }
      >
        <Button variant="default" className="wide" onClick={() => void save(conversation)}>
          {say("export")}
        </Button>
      </Bar>
      <div className={`${style.split} ${hasTraces ? "" : style.alone}`}>
        <Transcript
          conversation={conversation}
          messages={messages.data.data}
          chosen={hasTraces ? chosen : undefined}
          isAsked={Boolean(turn)}
          onTrace={(id) => {
            choose({ turn: id, step: undefined });
            // On narrow screens the trace stands under the transcript.
            if (window.matchMedia("(max-width: 860px)").matches) trace.current?.scrollIntoView({ block: "start" });
          }}
        />
        {hasTraces && (
          <section className={style.trace} ref={trace} aria-label={say("trace")}>
            <Turns
              conversationId={conversationId}
              messages={messages.data.data}
              turn={chosen}
              step={step}
              onChoose={choose}
            />
          </section>
        )}
      </div>
    </>
  );
}

/** Save the conversation as a file: the link of a browser would not carry the session. */
async function save(conversation: Conversation) {
  const { data: text } = await api.GET("/api/v1/conversations/{conversation_id}/export", {
    params: { path: { conversation_id: conversation.id }, query: { format: "md" } },
    parseAs: "text",
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([String(text ?? "")], { type: "text/markdown" }));
  link.download = `${conversation.id}.md`;
  link.click();
  URL.revokeObjectURL(link.href);
}

type TranscriptProps = {
  conversation: Conversation;
  messages: Message[];
  chosen?: string;
  isAsked: boolean;
  onTrace: (id: string) => void;
};

function Transcript({ conversation, messages, chosen, isAsked, onTrace }: TranscriptProps) {
  const may = useMay();
  const { data: me } = useQuery(meQuery);
  const { data: names } = useQuery({ ...agentNamesQuery, enabled: may("agents:read") });
  const body = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!chosen || !isAsked || window.matchMedia("(max-width: 860px)").matches) return;
    body.current?.querySelector("[data-chosen]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, isAsked]);
  const { user_id: userId, agent_id: agentId } = conversation;
  const who = !userId ? say("visitor") : userId === me?.id ? say("you") : say("colleague");
  const turns = turnsOf(messages);
  return (
    <section
      className={style.text}
      ref={body}
      aria-label={say("transcript")}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
    >
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
            <Link className="inline-link" to="/agents/$agentId" params={{ agentId }}>
              {names?.get(agentId) ?? agentId}
            </Link>
          </dd>
        </div>
        <div>
          <dt>{say("state")}</dt>
          <dd>
            <ConversationStatus status={conversation.status} />
          </dd>
        </div>
      </dl>
      {conversation.message_count > MAX_MESSAGES && (
        <p className="t-12 t-3">{say("older", { count: messages.length })}</p>
      )}
      {turns.length === 0 && <p className="t-3">{say("noMessages")}</p>}
      {turns.map((turn) => {
        const traceId = turn.stop?.trace_id;
        return <Reply key={turn.id} turn={turn} onTrace={onTrace} isChosen={Boolean(traceId) && traceId === chosen} />;
      })}
    </section>
  );
}
