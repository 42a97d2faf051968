import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useRef } from "react";
import { api } from "../../api/client";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { words } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { Failure, RowsLoading } from "../../shared/states/states";
import { messagesQuery } from "../../shared/trace/queries";
import style from "./chat.module.css";
import { chosenTrace } from "./chosen_trace";
import { useEarlier } from "./earlier";
import { type ConversationDetail, conversationQuery } from "./queries";
import { Transcript } from "./transcript";
import { Turns } from "./turns";
import en from "./words.en.json";

const say = words(en, "features/chat");

export default function ConversationPage() {
  const { conversationId } = useParams({ from: "/frame/conversations/$conversationId" });
  const { turn, step, correlation } = useSearch({ from: "/frame/conversations/$conversationId" });
  const navigate = useNavigate();
  const may = useMay();
  const trace = useRef<HTMLElement>(null);
  const found = useQuery(conversationQuery(conversationId));
  const messages = useQuery(messagesQuery(conversationId));
  const earlier = useEarlier(conversationId, messages.data);
  const choose = useCallback(
    (next: { turn?: string; step?: string }) =>
      void navigate({
        to: "/conversations/$conversationId",
        params: { conversationId },
        search: (before) => ({ ...before, ...next }),
        replace: true,
      }),
    [navigate, conversationId],
  );
  const onTrace = useCallback(
    (id: string) => {
      choose({ turn: id, step: undefined });
      // On narrow screens the trace stands under the transcript.
      if (window.matchMedia("(max-width: 860px)").matches) trace.current?.scrollIntoView({ block: "start" });
    },
    [choose],
  );
  const trail = [{ label: say("title"), to: "/conversations" }];
  const error = found.error ?? messages.error;
  if (!found.data || !messages.data)
    return (
      <>
        <Bar trail={trail} title={error ? conversationId : "…"} isThere={false} />
        {error ? (
          <Failure error={error} onRetry={() => void found.refetch().then(() => messages.refetch())} />
        ) : (
          <RowsLoading columns={[30, 300]} />
        )}
      </>
    );
  const conversation = found.data;
  const { chosen, isAsked } = chosenTrace(messages.data.data, turn, correlation);
  const hasTraces = may("traces:read");
  return (
    <>
      <Bar
        trail={trail}
        title={conversation.title || say("untitled")}
        after={
          <span className="wide">
            <CopyableId>{conversation.id}</CopyableId>
          </span>
        }
      >
        <ConversationActions conversation={conversation} />
      </Bar>
      <div className={`${style.split} ${hasTraces ? "" : style.alone}`}>
        <Transcript
          conversation={conversation}
          earlier={earlier}
          chosen={hasTraces ? chosen : undefined}
          isAsked={isAsked}
          onTrace={onTrace}
        />
        {hasTraces && (
          <section className={style.trace} ref={trace} aria-label={say("trace")}>
            <Turns
              conversationId={conversationId}
              earlier={earlier}
              turn={chosen}
              correlation={correlation}
              step={step}
              onChoose={choose}
            />
          </section>
        )}
      </div>
    </>
  );
}

function ConversationActions({ conversation }: { conversation: ConversationDetail }) {
  const may = useMay();
  return (
    <>
      {may("agents:write") && may("agents:chat") && (
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/agents/$agentId"
              params={{ agentId: conversation.agent_id }}
              search={{ from: conversation.id }}
            />
          )}
        >
          {say("goOn")}
        </Button>
      )}
      <Button variant="default" className="wide" onClick={() => void save(conversation)}>
        {say("export")}
      </Button>
    </>
  );
}

/** Save the conversation as a file: the link of a browser would not carry the session. */
async function save(conversation: ConversationDetail) {
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
