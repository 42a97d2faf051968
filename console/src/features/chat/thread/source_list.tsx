import type { components } from "../../../api/schema";
import { createTranslator } from "../../../shared/i18n/words";
import style from "./source.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

export type ReplySource = components["schemas"]["Source"];

/** The number by which a reply cites a source. */
export const numberOfSource = (source: ReplySource, place: number) => source.index || place + 1;
/** Where in its document a passage stands. */
export const placeOfSource = ({ page, url }: ReplySource): string => {
  if (page != null) return say("page", { page });
  return url ? new URL(url).hostname : "";
};

type Props = { sources: ReplySource[]; openIndex?: number; onOpen: (index: number) => void };

/** The sources below a reply; each opens beside it. */
export function ReplySourceList({ sources, openIndex, onOpen }: Props) {
  if (!sources.length) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div className={style.sources} role="group" aria-label={say("sources")}>
      {sources.map((source, place) => {
        const number = numberOfSource(source, place);
        return (
          <button
            key={number}
            type="button"
            className={style.source}
            aria-pressed={openIndex === number}
            onClick={() => onOpen(number)}
          >
            <b>{number}</b>
            <span className="cut">{source.document_name}</span>
            <span className="t-3 fix">{placeOfSource(source)}</span>
          </button>
        );
      })}
    </div>
  );
}
