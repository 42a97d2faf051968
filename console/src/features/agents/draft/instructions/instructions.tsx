import { lazy, Suspense, useDeferredValue, useId } from "react";
import { createTranslator } from "../../../../shared/i18n/words";
import en from "../../words.en.json";
import style from "./instructions.module.css";
import { estimateTokens, listPlaceholders } from "./line_marks";

const say = createTranslator(en, "features/agents");
const Editor = lazy(() => import("./editor"));
const MAX_LENGTH = 32_000;
/** From here on the end is in sight, and the count of characters is worth a word. */
const NEARLY_FULL = 28_000;

type Props = {
  value: string;
  published?: string;
  version?: number;
  isReadOnly: boolean;
  onChange: (text: string) => void;
};

/** The instructions. A plain field stands in until the editor is here, so that nobody waits to type. */
export function InstructionsSection({ value, published, version, isReadOnly, onChange }: Props) {
  const about = useId();
  // Made after the first frame: a long text takes the editor longer than a click may wait.
  const hasEditor = useDeferredValue(true, false);
  const placeholders = listPlaceholders(value);
  const isChanged = published !== undefined && published !== value;
  const plain = (
    <textarea
      className={style.plain}
      aria-label={say("instructions")}
      aria-describedby={about}
      rows={Math.min(24, Math.max(9, value.split("\n").length))}
      maxLength={MAX_LENGTH}
      readOnly={isReadOnly}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
  return (
    <section className="stack g8" aria-label={say("instructions")}>
      <h2 className="t-sec">{say("instructions")}</h2>
      <div className={style.editor} data-readonly={isReadOnly || undefined}>
        {isChanged && (
          <div className={style.editorHead}>{version ? say("changedSince", { version }) : say("changedText")}</div>
        )}
        {hasEditor ? (
          <Suspense fallback={plain}>
            <Editor
              value={value}
              published={published ?? value}
              label={say("instructions")}
              describedBy={about}
              hint={say("instructionsHint")}
              maxLength={MAX_LENGTH}
              isReadOnly={isReadOnly}
              onChange={onChange}
            />
          </Suspense>
        ) : (
          plain
        )}
        <div className={`${style.editorFoot} num`} id={about}>
          <span>{say("estimate", { count: estimateTokens(value) })}</span>
          {value.length > NEARLY_FULL && <span>{say("charactersLeft", { count: MAX_LENGTH - value.length })}</span>}
          {placeholders.size > 0 && (
            <span className="push" title={say("placeholdersWhy")}>
              {say("placeholders", { count: placeholders.size })}
            </span>
          )}
        </div>
      </div>
    </section>
  );
}
