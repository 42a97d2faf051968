import { Kbd, SegmentedControl } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useCallback, useDeferredValue, useRef, useState } from "react";
import { failureOf } from "../failures/failures";
import { useRowKeys } from "../frame/keys";
import { locale } from "../i18n/language";
import { words } from "../i18n/words";
import { CopyableId } from "../marks/copyable_id";
import { JsonView } from "../marks/json_view";
import { KindIcon } from "../marks/kind_icon";
import { Pill } from "../marks/status";
import { duration, exactTime, money } from "../time";
import { amount, firstWordMs, layOutRows, type Row, type Span, sumsOf, type Trace } from "./layout";
import style from "./trace.module.css";
import { Waterfall } from "./waterfall";
import en from "./words.en.json";

const say = words(en, "shared/trace");
export type Content = { input?: unknown; output?: unknown };
const ADDRESS_WAIT_MS = 300;

/** The step that is looked at. The address follows once the walk pauses: a change of it draws the whole page. */
function useStep(trace: string, asked: string | undefined, onChoose: (id: string) => void) {
  const [step, setStep] = useState(asked);
  const [before, setBefore] = useState({ trace, asked });
  if (before.trace !== trace || before.asked !== asked) {
    setBefore({ trace, asked });
    setStep(asked);
  }
  const follow = useDebouncedCallback((next: string, from: { trace: string; asked?: string; pathname: string }) => {
    // Another step was asked for meanwhile, or the page was left and the next one is still loading.
    const isOld = from.trace !== trace || from.asked !== asked || from.pathname !== window.location.pathname;
    if (!isOld && next !== asked) onChoose(next);
  }, ADDRESS_WAIT_MS);
  const choose = useCallback(
    (next: string) => {
      setStep(next);
      follow(next, { trace, asked, pathname: window.location.pathname });
    },
    [follow, trace, asked],
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
  const [step, setStep] = useStep(trace.trace_id, asked, onChoose);
  const chosen = trace.spans.find((span) => span.span_id === step) ?? trace.spans[0];
  // Walking through the steps marks each at once; what is said of it follows when there is time.
  const shown = useDeferredValue(chosen);
  return (
    <div className={style.view}>
      <Sums trace={trace} />
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
        {children(<Waterfall spans={trace.spans} chosen={chosen?.span_id} onChoose={setStep} />)}
      </section>
      {shown && <Chosen span={shown} trace={trace} content={content(shown)} />}
    </div>
  );
}

function timeNote({ waitedMs, afterMs }: ReturnType<typeof sumsOf>): string {
  if (waitedMs) return say("waited", { time: duration(waitedMs) });
  return afterMs >= 1 ? say("afterReply", { time: duration(afterMs) }) : "";
}

function Sums({ trace }: { trace: Trace }) {
  const sums = sumsOf(trace);
  const { input_tokens: input, output_tokens: output, cached_tokens: cached } = trace.usage;
  const figures: [string, string, string][] = [
    [say("time"), duration(sums.totalMs), timeNote(sums)],
    [say("first"), sums.firstWordMs === undefined ? "–" : duration(sums.firstWordMs), ""],
    [
      say("tokens"),
      (input + output).toLocaleString(locale),
      cached && input ? say("fromCache", { percent: Math.round((cached / input) * 100) }) : "",
    ],
    [say("cost"), trace.estimated_cost_usd === null ? say("unknown") : money(trace.estimated_cost_usd), ""],
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

function Chosen({ span, trace, content }: { span: Span; trace: Trace; content: Content }) {
  const [row] = layOutRows([span]).rows;
  if (!row) return null;
  return (
    <aside className={style.span} aria-label={say("chosen")}>
      <div className="row g8">
        <KindIcon of={row.kind} small />
        <b className="t-sec cut">{row.name}</b>
        <span className="t-13 t-2 cut">{row.note}</span>
        <span className="push wide fix">
          <CopyableId>{span.span_id}</CopyableId>
        </span>
      </div>
      {span.error && (
        <div className="note bad">
          <span>
            {failureOf(span.error)} <code className="mono t-12">{span.error.code}</code>
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
        <JsonView key={span.span_id} of={shown?.of ?? null} max={180} />
      )}
    </div>
  );
}

type SpanFiguresProps = { span: Span; row: Row; correlationId: string };

function SpanFigures({ span, row, correlationId }: SpanFiguresProps) {
  const cost = amount(span, "retinue.cost_usd");
  const first = firstWordMs(span);
  return (
    <dl className="kv num">
      <dt>{say("took")}</dt>
      <dd title={exactTime(span.started_at)}>
        {duration(span.duration_ms)}
        {first !== undefined && <span className="t-3">, {say("firstAfter", { time: duration(first) })}</span>}
      </dd>
      {row.tokens !== undefined && (
        <>
          <dt>{say("tokens")}</dt>
          <dd>
            {row.tokens.toLocaleString(locale)}{" "}
            {row.cachedShare !== undefined && (
              <Pill tone="ok">{say("fromCache", { percent: Math.round(row.cachedShare * 100) })}</Pill>
            )}
          </dd>
        </>
      )}
      {cost !== undefined && (
        <>
          <dt>{say("cost")}</dt>
          <dd>{money(cost)}</dd>
        </>
      )}
      <dt>{say("correlation")}</dt>
      <dd className="mono t-12">{correlationId}</dd>
    </dl>
  );
}
