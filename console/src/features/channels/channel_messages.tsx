import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import type { Tone } from "../../shared/marks/status";
import { HistoryThread } from "../../shared/patterns/history_thread";
import { SheetSection } from "../../shared/patterns/sheet";
import { translateSentence } from "../../shared/sentences/sentences";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDuration, formatTimeOfDay } from "../../shared/time";
import { messageTypeNameOf } from "./channel_words";
import { type ChannelMessage, channelMessagesQuery, MESSAGES_PER_PAGE } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const TONES: Record<ChannelMessage["status"], Tone> = { pending: "run", delivered: "ok", failed: "bad" };

/** What went through the channel, newest first: about what, to whom, and what became of it. */
export function ChannelMessages({ channelId }: { channelId: string }) {
  const [isFailed, setFailed] = useState(false);
  const [page, setPage] = useState(1);
  const log = useQuery(channelMessagesQuery(channelId, isFailed, page));
  const messages = log.data?.data;
  const total = log.data?.total ?? 0;
  return (
    <SheetSection
      title={say("lastMessages")}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={say("show")}
          data={[
            { value: "", label: say("show_all") },
            { value: "failed", label: say("onlyFailed") },
          ]}
          value={isFailed ? "failed" : ""}
          onChange={(value) => {
            setFailed(value === "failed");
            setPage(1);
          }}
        />
      }
    >
      {log.error && !messages && <FailureState error={log.error} onRetry={() => void log.refetch()} />}
      {!log.error && !messages && <RowSkeletons rows={3} columns={[14, 240]} />}
      {messages?.length === 0 && <p className="t-13 t-3">{say(isFailed ? "noneFailed" : "nothingSent")}</p>}
      {messages && messages.length > 0 && (
        <HistoryThread
          label={say("lastMessages")}
          knots={messages.map((message) => ({
            key: message.id,
            tone: TONES[message.status],
            title: message.subject === null ? say("redacted") : translateSentence(message.subject),
            note: <MessageFacts message={message} />,
          }))}
        />
      )}
      {total > MESSAGES_PER_PAGE && (
        <div className="row g8">
          <span className="t-12 t-3 num grow">{say("messagesOf", { page, total })}</span>
          <Button size="compact-xs" variant="default" disabled={page <= 1} onClick={() => setPage(page - 1)}>
            {say("newer")}
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={page * MESSAGES_PER_PAGE >= total}
            onClick={() => setPage(page + 1)}
          >
            {say("older")}
          </Button>
        </div>
      )}
    </SheetSection>
  );
}

/** "12 Nov, 10:22 · Workflow failed · to ada@example.com · delivered in 1.4 s", and the error below. */
function MessageFacts({ message }: { message: ChannelMessage }) {
  const { delivery_time_ms: took, recipient, attempts, error, error_code: code } = message;
  const facts = [
    formatTimeOfDay(message.created_at),
    messageTypeNameOf(message.type),
    recipient && say("to", { recipient }),
    message.status === "delivered" ? say("deliveredIn", { time: formatDuration(took ?? 0) }) : say(message.status),
    attempts > 1 && say("attempts", { count: attempts }),
    message.fallback_of && say("tookOver"),
  ];
  const problem = message.status === "delivered" ? "" : error ? translateSentence(error) : (code ?? "");
  return (
    <span className="stack">
      <span>{facts.filter(Boolean).join(" · ")}</span>
      {problem && <span className={message.status === "failed" ? "t-bad" : ""}>{problem}</span>}
    </span>
  );
}
