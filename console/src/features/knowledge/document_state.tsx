import { failureOf } from "../../shared/failures/failures";
import { words } from "../../shared/i18n/words";
import { Status } from "../../shared/marks/status";
import style from "./knowledge.module.css";
import type { Document } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/knowledge");
const FIXES: Record<string, string> = {
  parse_error: say("fixParse"),
  empty_document: say("fixEmpty"),
  too_large: say("fixTooLarge"),
  embedding_error: say("fixEmbedding"),
};

/** How far indexing has come. */
export function DocumentState({ of: document }: { of: Document }) {
  if (document.status === "failed") return <Status tone="bad">{say("failed")}</Status>;
  if (document.status === "indexed") return <Status tone="ok">{say("indexed")}</Status>;
  if (document.status === "pending") return <Status tone="idle">{say("pending")}</Status>;
  const { chunks_done: done, chunks_total: total } = document;
  if (!total) return <Status tone="run">{say("indexing")}</Status>;
  return (
    <div className="stack g4">
      <Status tone="run">{say("indexingOf", { done, total })}</Status>
      <div
        className={`meter run ${style.progress}`}
        role="progressbar"
        aria-label={document.name}
        aria-valuenow={done}
        aria-valuemin={0}
        aria-valuemax={total}
      >
        <i style={{ width: `${(100 * done) / total}%` }} />
      </div>
    </div>
  );
}

/** Why a document could not be indexed, and what to do. */
export const FailureReason = ({ of: document }: { of: Document }) =>
  document.error && (
    <span className={`t-12 ${style.reason}`}>
      {failureOf(document.error)} {FIXES[document.error.code] ?? ""}
    </span>
  );
