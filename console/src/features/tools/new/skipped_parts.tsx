import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";

const say = createTranslator(en, "features/tools");

/** What an import leaves out, each with the server's reason. */
export function SkippedParts({ skipped }: { skipped: { what: string; why: string }[] }) {
  if (skipped.length === 0) return null;
  return (
    <details className="t-13 t-2">
      <summary>{say("skipped", { count: skipped.length })}</summary>
      <ul>
        {skipped.map((part) => (
          <li key={`${part.what} ${part.why}`}>
            <span className="mono t-12">{part.what}</span>: {part.why}
          </li>
        ))}
      </ul>
    </details>
  );
}
