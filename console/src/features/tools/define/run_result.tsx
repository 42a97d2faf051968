import { Link } from "@tanstack/react-router";
import { createTranslator } from "../../../shared/i18n/words";
import { JsonView } from "../../../shared/marks/json_view";
import { StatusLabel } from "../../../shared/marks/status";
import { formatDuration } from "../../../shared/time";
import { describeInput, executionTone, executionWord } from "../execution_words";
import type { Executed, JsonValues } from "../queries";
import en from "../words.en.json";
import style from "./define.module.css";

const say = createTranslator(en, "features/tools");
/** A trial has no `toolId`: no record of it can be opened. */
type RunResultProps = { toolId?: string; executed: Executed; input: JsonValues; onLine?: (line: number) => void };

/** How one run ended. A line that an error names leads to it in the code. */
export function RunResult({ toolId, executed, input, onLine }: RunResultProps) {
  const { error, output, logs } = executed;
  const line = Number(/\bline (\d+)/.exec(error?.message ?? "")?.[1]);
  return (
    <article className={style.result}>
      <header>
        <StatusLabel tone={executionTone(executed.status)}>
          {toolId ? (
            <Link
              className={error ? "t-500 t-bad" : "t-500"}
              to="/tools/$toolId/executions"
              params={{ toolId }}
              search={{ id: executed.execution_id }}
            >
              {executionWord(executed)}
            </Link>
          ) : (
            <span className={error ? "t-500 t-bad" : "t-500"}>{executionWord(executed)}</span>
          )}
        </StatusLabel>
        <span className="push t-12 t-3 num cut" title={describeInput({ input: input as Record<string, never> })}>
          {say("tookTries", { time: formatDuration(executed.execution_time_ms), count: executed.attempts })}
        </span>
      </header>
      {error ? (
        <div className={style.message}>
          <span className="t-13">{error.message}</span>
          {onLine && line > 0 && (
            <button type="button" className={`t-12 ${style.lineLink}`} onClick={() => onLine(line)}>
              {say("line", { line })}
            </button>
          )}
        </div>
      ) : (
        <JsonView value={output ?? null} max={320} />
      )}
      {logs && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        <pre className={`code ${style.logs}`} tabIndex={0} role="group" aria-label={say("logs")}>
          {logs}
        </pre>
      )}
    </article>
  );
}
