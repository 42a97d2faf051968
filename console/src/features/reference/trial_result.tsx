import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { JsonView } from "../../shared/marks/json_view";
import { StatusPill } from "../../shared/marks/status";
import style from "./reference.module.css";
import type { TrialAnswer } from "./trial";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");
const MAX_COLOURED_CHARACTERS = 60_000;

function parseAnswer({ type, text, isWhole }: TrialAnswer): { value?: unknown } | undefined {
  if (!type.includes("json") || !isWhole || text.length > MAX_COLOURED_CHARACTERS) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The answer as it came: status, time, body, and the headers on demand. */
export function TrialResult({ answer, isRunning }: { answer: TrialAnswer; isRunning: boolean }) {
  const [hasHeaders, setHeaders] = useState(false);
  const parsed = parseAnswer(answer);
  return (
    <section className="stack g8" aria-label={say("result")}>
      <div className="row g8 wrap">
        <StatusPill tone={answer.status < 400 ? "ok" : "bad"}>
          <span className="mono num">
            {answer.status} {answer.statusText}
          </span>
        </StatusPill>
        <span className="t-12 t-3 num">{say("took", { count: Math.round(answer.milliseconds) })}</span>
        <button
          type="button"
          className={`link ${style.fold}`}
          aria-expanded={hasHeaders}
          onClick={() => setHeaders(!hasHeaders)}
        >
          {say("headers", { count: answer.headers.length })}
        </button>
      </div>
      {hasHeaders && (
        <dl className={`mono t-12 ${style.headers}`}>
          {answer.headers.map(([name, value]) => (
            <div key={`${name} ${value}`}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {answer.bytes !== undefined && (
        <p className="t-13 t-2">
          {answer.bytes ? say("file", { count: answer.bytes, type: answer.type || "?" }) : say("noContent")}
        </p>
      )}
      {parsed ? (
        <JsonView value={parsed.value} max={480} />
      ) : (
        answer.text && (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
          <pre className={`code ${style.text}`} tabIndex={0} role="group" aria-label={say("result")}>
            {answer.text}
          </pre>
        )
      )}
      {!answer.isWhole && <p className="t-12 t-3">{say("cut")}</p>}
      {isRunning && <p className="t-12 t-3">{say("running")}</p>}
    </section>
  );
}
