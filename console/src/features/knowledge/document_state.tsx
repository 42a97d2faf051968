import { describeFailure } from "../../shared/failures/failures";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import style from "./knowledge.module.css";
import type { Document } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/knowledge");
const FIXES: Record<string, string> = {
  parse_error: say("fixParse"),
  empty_document: say("fixEmpty"),
  too_large: say("fixTooLarge"),
  embedding_error: say("fixEmbedding"),
};

/** How far indexing has come. */
export function DocumentState({ of: document }: { of: Document }) {
  if (document.status === "failed") return <StatusLabel tone="bad">{say("failed")}</StatusLabel>;
  if (document.status === "indexed") return <StatusLabel tone="ok">{say("indexed")}</StatusLabel>;
  // What it waits for stands beside it.
  if (document.status === "indexing" && document.error)
    return <StatusLabel tone="warn">{say("triesAgain")}</StatusLabel>;
  if (document.status === "pending") return <StatusLabel tone="idle">{say("pending")}</StatusLabel>;
  const { chunks_done: done, chunks_total: total } = document;
  if (!total) return <StatusLabel tone="run">{say("indexing")}</StatusLabel>;
  return (
    <div className="stack g4">
      <StatusLabel tone="run">{say("indexingOf", { done, total })}</StatusLabel>
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

/** Why a document could not be indexed, or what it waits for, and what to do. */
export const FailureReason = ({ of: document }: { of: Document }) =>
  document.error && (
    <span className={`t-12 ${style.reason}`}>
      {describeFailure(document.error)}{" "}
      {document.status === "indexing" ? say("waitsForModel") : FIXES[document.error.code]}
    </span>
  );
