import ChevronRight from "icon:chevron-right";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { words } from "../../shared/i18n/words";
import { Kind } from "../../shared/parts";
import { Empty, Failure, RowsLoading } from "../../shared/states/states";
import { duration, money } from "../../shared/time";
import { contentOf, type Message, traceQuery } from "../../shared/trace/queries";
import { TraceView } from "../../shared/trace/view";
import style from "./chat.module.css";
import { type TurnTrace, turnsByTrace, turnTracesQuery } from "./queries";
import en from "./words.en.json";

const say = words(en);

type Props = {
  conversationId: string;
  messages: Message[];
  turn?: string;
  step?: string;
  onChoose: (next: { turn?: string; step?: string }) => void;
};

/** The turns of a conversation one under the other; the chosen one is open and shows its steps. */
export function Turns({ conversationId, messages, turn, step, onChoose }: Props) {
  const list = useQuery(turnTracesQuery(conversationId));
  const turns = turnsByTrace(list.data?.data ?? []);
  const isKnown = turns.some((one) => one.trace_id === turn);
  const chosen = isKnown ? turn : turns.at(-1)?.trace_id;
  const trace = useQuery({
    ...traceQuery(chosen ?? ""),
    enabled: Boolean(chosen),
    placeholderData: keepPreviousData,
  });
  if (list.error) return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <RowsLoading columns={[20, 240, 200, 60]} />;
  if (!turns.length) return <Empty title={say("noTraceTitle")}>{say("noTrace")}</Empty>;
  const at = turns.findIndex((one) => one.trace_id === chosen);
  const row = (one: TurnTrace, i: number) => (
    <TurnRow
      key={one.trace_id}
      trace={one}
      number={i + 1}
      question={questionOf(messages, one.trace_id)}
      isOpen={one.trace_id === chosen}
      onOpen={() => onChoose({ turn: one.trace_id, step: undefined })}
    />
  );
  if (trace.error) return <Failure error={trace.error} onRetry={() => void trace.refetch()} />;
  if (!trace.data) return <RowsLoading columns={[20, 240, 200, 60]} />;
  return (
    <TraceView
      trace={trace.data}
      content={contentOf(messages)}
      chosen={step}
      onChoose={(id) => onChoose({ turn: chosen, step: id })}
      before={turns.length > 1 && turns.slice(0, at + 1).map(row)}
      after={turns.slice(at + 1).map((one, i) => row(one, at + 1 + i))}
    />
  );
}

function questionOf(messages: Message[], traceId: string): string {
  const at = messages.findIndex((message) => message.details?.trace_id === traceId);
  return messages.slice(0, Math.max(0, at)).findLast((message) => message.role === "user")?.content ?? "";
}

type RowProps = { trace: TurnTrace; number: number; question: string; isOpen: boolean; onOpen: () => void };

function TurnRow({ trace, number, question, isOpen, onOpen }: RowProps) {
  const tokens = trace.usage.input_tokens + trace.usage.output_tokens;
  return (
    <button
      type="button"
      className={`${style.turn} ${isOpen ? style.open : ""}`}
      aria-expanded={isOpen}
      onClick={onOpen}
    >
      <ChevronRight size={14} />
      <Kind of={trace.status === "error" ? "bad" : "turn"} small />
      <span className="t-500 fix">{say("turn", { number })}</span>
      <span className="t-3 cut grow">{question}</span>
      <span className="t-12 t-2 num fix">{duration(trace.duration_ms)}</span>
      <span className="t-12 t-2 num fix wide">{say("tokens", { count: tokens })}</span>
      {trace.estimated_cost_usd !== null && (
        <span className="t-12 t-2 num fix wide">{money(trace.estimated_cost_usd)}</span>
      )}
    </button>
  );
}
