import { Kbd, SegmentedControl } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useCallback, useDeferredValue, useRef, useState } from "react";
import { describeFailure } from "../failures/failures";
import { useRowKeys } from "../frame/keys";
import { locale } from "../i18n/language";
import { createTranslator } from "../i18n/words";
import { CopyableId } from "../marks/copyable_id";
import { JsonView } from "../marks/json_view";
import { KindIcon } from "../marks/kind_icon";
import { StatusPill } from "../marks/status";
import { formatDuration, formatExactTime, formatMoney } from "../time";
import { firstWordMsOf, layOutRows, numberAttribute, type Row, type Span, summarizeTrace, type Trace } from "./layout";
import style from "./trace.module.css";
import { TraceWaterfall } from "./waterfall";
import en from "./words.en.json";

const say = createTranslator(en, "shared/trace");
export type Content = { input?: unknown; output?: unknown };
const ADDRESS_WAIT_MS = 300;

/** The step that is looked at. The address follows once the walk pauses: a change of it draws the whole page. */
function useChosenStep(trace: string, askedStep: string | undefined, onChoose: (id: string) => void) {
  const [step, setStep] = useState(askedStep);
  const [before, setBefore] = useState({ trace, asked: askedStep });
  if (before.trace !== trace || before.asked !== askedStep) {
    setBefore({ trace, asked: askedStep });
    setStep(askedStep);
  }
  const follow = useDebouncedCallback((next: string, from: { trace: string; asked?: string; pathname: string }) => {
    // Another step was asked for meanwhile, or the page was left and the next one is still loading.
    const isOld = from.trace !== trace || from.asked !== askedStep || from.pathname !== window.location.pathname;
    if (!isOld && next !== askedStep) onChoose(next);
  }, ADDRESS_WAIT_MS);
  const choose = useCallback(
    (next: string) => {
      setStep(next);
      follow(next, { trace, asked: askedStep, pathname: window.location.pathname });
    },
    [follow, trace, askedStep],
  );
  return [step, choose] as const;
}

/** One trace: its sums, its steps in time, and the chosen step. `children` place the steps among other rows. */
export function TraceView({
  trace,
  content,
  chosen: asked,
  onChoose,
  children = (steps) => steps,
}: {
  trace: Trace;
  content: (span: Span) => Content;
  chosen?: string;
  onChoose: (id: string) => void;
  children?: (steps: ReactNode) => ReactNode;
}) {
  const list = useRef<HTMLElement>(null);
  useRowKeys(list);
  const [step, setStep] = useChosenStep(trace.trace_id, asked, onChoose);
  const chosen = trace.spans.find((span) => span.span_id === step) ?? trace.spans[0];
  // Walking through the steps marks each at once; what is said of it follows when there is time.
  const shown = useDeferredValue(chosen);
  return (
    <div className={style.view}>
      <TraceSums trace={trace} />
      <section
        className={style.scroll}
        ref={list}
        aria-label={say("steps")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
        onFocus={({ target }) => {
          const id = target.closest<HTMLElement>("[data-span]")?.dataset.span;
          if (id) setStep(id);
        }}
      >
        {children(<TraceWaterfall spans={trace.spans} chosen={chosen?.span_id} onChoose={setStep} />)}
      </section>
      {shown && <ChosenSpan span={shown} trace={trace} content={content(shown)} />}
    </div>
  );
}

function describeTimes({ waitedMs, afterMs }: ReturnType<typeof summarizeTrace>): string {
  if (waitedMs) return say("waited", { time: formatDuration(waitedMs) });
  return afterMs >= 1 ? say("afterReply", { time: formatDuration(afterMs) }) : "";
}

function TraceSums({ trace }: { trace: Trace }) {
  const sums = summarizeTrace(trace);
  const { input_tokens: input, output_tokens: output, cached_tokens: cached } = trace.usage;
  const figures: [string, string, string][] = [
    [say("time"), formatDuration(sums.totalMs), describeTimes(sums)],
    [say("first"), sums.firstWordMs === undefined ? "–" : formatDuration(sums.firstWordMs), ""],
    [
      say("tokens"),
      (input + output).toLocaleString(locale),
      cached && input ? say("fromCache", { percent: Math.round((cached / input) * 100) }) : "",
    ],
    [say("cost"), trace.estimated_cost_usd === null ? say("unknown") : formatMoney(trace.estimated_cost_usd), ""],
    [say("calls"), String(sums.calls), sums.failed ? say("failed", { count: sums.failed }) : say("noneFailed")],
  ];
  return (
    <dl className={`${style.sums} num`}>
      {figures.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ChosenSpan({ span, trace, content }: { span: Span; trace: Trace; content: Content }) {
  const [row] = layOutRows([span]).rows;
  if (!row) return null;
  return (
    <aside className={style.span} aria-label={say("chosen")}>
      <div className="row g8">
        <KindIcon kind={row.kind} small />
        <b className="t-sec cut">{row.name}</b>
        <span className="t-13 t-2 cut">{row.note}</span>
        <span className="push wide fix">
          <CopyableId>{span.span_id}</CopyableId>
        </span>
      </div>
      {span.error && (
        <div className="note bad">
          <span>
            {describeFailure(span.error)} <code className="mono t-12">{span.error.code}</code>
          </span>
        </div>
      )}
      <div className={style.two}>
        <SpanContent span={span} content={content} />
        <SpanFigures span={span} row={row} correlationId={trace.correlation_id} />
      </div>
      <p className="t-12 t-3 row g6 wide">
        {say("keys")} <Kbd>J</Kbd> <Kbd>K</Kbd>
      </p>
    </aside>
  );
}

/** What went into a step and what came out of it, one at a time. */
function SpanContent({ span, content }: { span: Span; content: Content }) {
  const parts = [
    ...(content.input === undefined ? [] : [{ value: "input", label: say("input"), of: content.input }]),
    ...(content.output === undefined ? [] : [{ value: "output", label: say("output"), of: content.output }]),
    { value: "attributes", label: say("attributes"), of: span.attributes as unknown },
  ];
  const [part, setPart] = useState<string>();
  const shown = parts.find((one) => one.value === part) ?? parts[0];
  return (
    <div className="stack g8">
      <SegmentedControl
        aria-label={say("show")}
        data={parts.map(({ value, label }) => ({ value, label }))}
        value={shown?.value}
        onChange={setPart}
        style={{ alignSelf: "flex-start" }}
      />
      {typeof shown?.of === "string" ? (
        <section
          key={span.span_id}
          className={`code ${style.said}`}
          aria-label={shown.label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
          tabIndex={0}
        >
          {shown.of}
        </section>
      ) : (
        <JsonView key={span.span_id} value={shown?.of ?? null} max={180} />
      )}
    </div>
  );
}

type SpanFiguresProps = { span: Span; row: Row; correlationId: string };

function SpanFigures({ span, row, correlationId }: SpanFiguresProps) {
  const cost = numberAttribute(span, "retinue.cost_usd");
  const first = firstWordMsOf(span);
  return (
    <dl className="kv num">
      <dt>{say("took")}</dt>
      <dd title={formatExactTime(span.started_at)}>
        {formatDuration(span.duration_ms)}
        {first !== undefined && <span className="t-3">, {say("firstAfter", { time: formatDuration(first) })}</span>}
      </dd>
      {row.tokens !== undefined && (
        <>
          <dt>{say("tokens")}</dt>
          <dd>
            {row.tokens.toLocaleString(locale)}{" "}
            {row.cachedShare !== undefined && (
              <StatusPill tone="ok">{say("fromCache", { percent: Math.round(row.cachedShare * 100) })}</StatusPill>
            )}
          </dd>
        </>
      )}
      {cost !== undefined && (
        <>
          <dt>{say("cost")}</dt>
          <dd>{formatMoney(cost)}</dd>
        </>
      )}
      <dt>{say("correlation")}</dt>
      <dd className="mono t-12">{correlationId}</dd>
    </dl>
  );
}
