import ChevronRight from "icon:chevron-right";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { memo, type ReactNode, useCallback, useEffect, useMemo } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon } from "../../shared/marks/kind_icon";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDuration, formatMoney } from "../../shared/time";
import { spanContentReader, traceQuery } from "../../shared/trace/queries";
import { TraceView } from "../../shared/trace/view";
import style from "./conversations.module.css";
import type { Earlier } from "./earlier";
import { RenderWhenNear } from "./near";
import { numberTurns } from "./numbers";
import { groupTurnsByTrace, type TurnTrace, turnTracesQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");
/** Of more turns, only the rows in sight are drawn. */
const MAX_DRAWN = 60;
const ROW_PX = 40;

type Props = {
  conversationId: string;
  earlier: Earlier;
  turn?: string;
  /** A turn that ended before the agent said anything is known by this alone. */
  correlation?: string;
  step?: string;
  onChoose: (next: { turn?: string; step?: string }) => void;
};

/** The turns of a conversation one under the other; the chosen one is open and shows its steps. */
export function TurnList({ conversationId, earlier, turn, correlation, step, onChoose }: Props) {
  const { list, turns } = useTurnTraces(conversationId, earlier.turns.length);
  const { messages, hiddenTurns } = earlier;
  const numbered = useMemo(() => numberTurns(turns, earlier.turns, hiddenTurns), [turns, earlier.turns, hiddenTurns]);
  const open = useCallback((id: string) => onChoose({ turn: id, step: undefined }), [onChoose]);
  const asked = turns.find((one) => (turn ? one.trace_id === turn : one.correlation_id === correlation));
  const chosen = (asked ?? turns.at(-1))?.trace_id;
  const trace = useQuery({
    ...traceQuery(chosen ?? ""),
    enabled: Boolean(chosen),
    placeholderData: keepPreviousData,
  });
  if (list.error) return <FailureState error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <RowSkeletons columns={[20, 240, 200, 60]} />;
  if (!turns.length) return <EmptyState title={say("noTraceTitle")}>{say("noTrace")}</EmptyState>;
  const renderRows = (steps: ReactNode) =>
    numbered.map(({ trace: one, number, question }) => (
      <TurnRow
        key={one.trace_id}
        trace={one}
        number={number}
        question={question}
        steps={one.trace_id === chosen ? steps : undefined}
        isDrawn={turns.length <= MAX_DRAWN}
        onOpen={open}
      />
    ));
  if (trace.error) return <FailureState error={trace.error} onRetry={() => void trace.refetch()} />;
  if (!trace.data) return <RowSkeletons columns={[20, 240, 200, 60]} />;
  return (
    <TraceView
      trace={trace.data}
      content={spanContentReader(messages)}
      chosen={step}
      onChoose={(id) => onChoose({ turn: chosen, step: id })}
    >
      {turns.length > 1 ? renderRows : undefined}
    </TraceView>
  );
}

/** As many turns as the transcript shows. */
function useTurnTraces(conversationId: string, count: number) {
  const list = useInfiniteQuery(turnTracesQuery(conversationId));
  const { data, hasNextPage, isFetching, fetchNextPage } = list;
  const turns = useMemo(() => groupTurnsByTrace(data?.pages.flatMap((page) => page.data) ?? []), [data]);
  useEffect(() => {
    if (data && turns.length < count && hasNextPage && !isFetching) void fetchNextPage();
  }, [data, turns.length, count, hasNextPage, isFetching, fetchNextPage]);
  return { list, turns };
}

type RowProps = {
  trace: TurnTrace;
  number: number;
  question: string;
  /** Of the open turn. */
  steps?: ReactNode;
  isDrawn: boolean;
  onOpen: (id: string) => void;
};

/** One turn, with its steps under it if it is open: opening another one draws these two rows and no others. */
const TurnRow = memo(function TurnRow({ trace, number, question, steps, isDrawn, onOpen }: RowProps) {
  const tokens = trace.usage.input_tokens + trace.usage.output_tokens;
  const isOpen = Boolean(steps);
  return (
    <RenderWhenNear height={ROW_PX} isAlways={isOpen || isDrawn}>
      <button
        type="button"
        className={`${style.turn} ${isOpen ? style.open : ""}`}
        aria-expanded={isOpen}
        onClick={() => onOpen(trace.trace_id)}
      >
        <ChevronRight size={14} />
        <KindIcon kind={trace.status === "error" ? "bad" : "turn"} small />
        <span className="t-500 fix">{say("turn", { number })}</span>
        <span className="t-3 cut grow">{question}</span>
        <span className="t-12 t-2 num fix">{formatDuration(trace.duration_ms)}</span>
        <span className="t-12 t-2 num fix wide">{say("tokens", { count: tokens })}</span>
        {trace.estimated_cost_usd !== null && (
          <span className="t-12 t-2 num fix wide">{formatMoney(trace.estimated_cost_usd)}</span>
        )}
      </button>
      {steps}
    </RenderWhenNear>
  );
});
