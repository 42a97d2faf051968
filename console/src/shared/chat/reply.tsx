import ChevronDown from "icon:chevron-down";
import FileText from "icon:file-text";
import TriangleAlert from "icon:triangle-alert";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMay } from "../../api/queries";
import { words } from "../i18n/words";
import { Markdown } from "../markdown/markdown";
import { Json, Kind, Pill } from "../parts";
import { duration, exact, money } from "../time";
import type { ToolCall, Turn } from "./chat";
import style from "./chat.module.css";
import en from "./words.en.json";

const say = words(en);
const CODES = en as Record<string, string>;
const UNPRICED = "unpriced_model";

function outcomeOf(call: ToolCall): string {
  if (call.status === "running") return say("working");
  const isDone = call.status === "completed" || call.status === "success";
  return isDone && call.tookMs !== undefined ? duration(call.tookMs) : (CODES[call.status] ?? call.status);
}

function Call({ call }: { call: ToolCall }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={style.call}>
      <button type="button" className={style.callHead} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Kind of="tool" small />
        <span className="t-500">{call.tool}</span>
        <span className="t-3 cut grow t-12 mono">{JSON.stringify(call.input)}</span>
        {call.status === "awaiting_approval" ? (
          <Pill tone="warn">{say("approval")}</Pill>
        ) : (
          <span className="t-12 t-3 num fix">{outcomeOf(call)}</span>
        )}
        <ChevronDown size={14} className={isOpen ? style.up : ""} />
      </button>
      {call.status === "awaiting_approval" && call.approvalId && (
        <Link className={`inline-link t-12 ${style.decide}`} to="/approvals" search={{ id: call.approvalId }}>
          {say("decide")}
        </Link>
      )}
      {isOpen && (
        <div className={style.callBody}>
          <div className="stack g4">
            <span className="t-12 t-3">{say("asked")}</span>
            <Json of={call.input ?? null} max={220} />
          </div>
          {call.output !== undefined && (
            <div className="stack g4">
              <span className="t-12 t-3">{say("got")}</span>
              <Json of={call.output} max={220} />
            </div>
          )}
        </div>
      )}
    </div>
  );
}

const Notice = ({ tone, children }: { tone: "warn" | "bad"; children: string }) => (
  <div className={`note ${tone}`} role={tone === "bad" ? "alert" : undefined}>
    <TriangleAlert size={15} />
    <span>{children}</span>
  </div>
);

/** One question with what came back: warnings, tool calls, the text, its sources, one line of figures. */
export function Reply({ turn, onTrace, isChosen }: { turn: Turn; onTrace?: (id: string) => void; isChosen?: boolean }) {
  const [lit, setLit] = useState(0);
  const may = useMay();
  const traceId = may("traces:read") ? turn.stop?.trace_id : undefined;
  const sources = turn.stop?.sources ?? [];
  // That a price is unknown belongs to the figures; the other warnings are about the answer.
  const warnings = (turn.stop?.warnings ?? []).filter((code) => code !== UNPRICED);
  return (
    <div className={style.turn} data-chosen={isChosen || undefined}>
      {turn.question && <div className={style.question}>{turn.question}</div>}
      {warnings.map((code) => (
        <Notice key={code} tone="warn">
          {CODES[code] ?? code}
        </Notice>
      ))}
      {turn.calls.map((call, i) => (
        <Call key={i} call={call} />
      ))}
      {turn.text && <Markdown onCite={sources.length ? setLit : undefined}>{turn.text}</Markdown>}
      {turn.isLive && <span className="caret" aria-hidden />}
      {turn.error && <Notice tone="bad">{CODES[turn.error.code] ?? (turn.error.message || say("failed"))}</Notice>}
      {sources.length > 0 && (
        <ul className={style.sources}>
          {sources.map((source, i) => (
            <li key={i} className={style.source} data-lit={lit === i + 1} title={source.chunk_preview}>
              <span className="num">{i + 1}</span>
              <FileText size={13} />
              <span className="cut">{source.document_name}</span>
              <span
                className={style.score}
                role="img"
                aria-label={say("relevance", { score: source.relevance_score.toFixed(2) })}
              >
                <i style={{ width: `${source.relevance_score * 100}%` }} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {turn.stop && (
        <div className={`${style.meta} num`}>
          {turn.askedAt && <span>{exact(turn.askedAt)}</span>}
          <span>{say("tokens", { count: turn.stop.usage?.total_tokens ?? 0 })}</span>
          {typeof turn.stop.estimated_cost_usd === "number" ? (
            <span>{money(turn.stop.estimated_cost_usd)}</span>
          ) : (
            turn.stop.warnings?.includes(UNPRICED) && <span title={CODES[UNPRICED]}>{say("unpriced")}</span>
          )}
          {turn.stop.finish_reason !== "stop" && (
            <span>{CODES[turn.stop.finish_reason] ?? turn.stop.finish_reason}</span>
          )}
          {traceId &&
            (onTrace ? (
              <button type="button" className={style.trace} aria-pressed={isChosen} onClick={() => onTrace(traceId)}>
                {say("trace")}
              </button>
            ) : (
              <Link className={style.trace} to="/traces/$traceId" params={{ traceId }}>
                {say("trace")}
              </Link>
            ))}
        </div>
      )}
    </div>
  );
}
