import ChevronRight from "icon:chevron-right";
import { Textarea } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../../../shared/i18n/words";
import { settingLabel } from "../../../../shared/versions/labels";
import en from "../../words.en.json";
import type { Edits, Snapshot } from "../draft";
import style from "../draft.module.css";
import { parseSchemaText } from "./schema_text";

const say = createTranslator(en, "features/agents");
type Props = {
  draft: Snapshot;
  isReadOnly: boolean;
  onChange: (edits: Edits) => void;
  /** Hears why the text is not saved, and that it is again. */
  onProblem: (problem?: string) => void;
};
const formatSchema = (schema: Snapshot["output_schema"]) => (schema ? JSON.stringify(schema, null, 2) : "");

/** The JSON Schema of replies as text. Text that is not one yet stays here and is not saved. */
export function OutputSection({ draft, isReadOnly, onChange, onProblem }: Props) {
  const [typed, setTyped] = useState<string>();
  // Only at first: it must not close while somebody empties it.
  const [isOpen] = useState(Boolean(draft.output_schema));
  const text = typed ?? formatSchema(draft.output_schema);
  const { problem } = parseSchemaText(text);
  const changeSchemaText = (next: string) => {
    setTyped(next);
    const read = parseSchemaText(next);
    if (!read.problem) onChange({ output_schema: read.schema });
    onProblem(read.problem && say(read.problem));
  };
  return (
    <details className={style.limits} open={isOpen}>
      <summary>
        <ChevronRight size={14} />
        <h2 className="t-sec">{settingLabel("output_schema")}</h2>
      </summary>
      <Textarea
        classNames={{ input: style.schema }}
        aria-label={settingLabel("output_schema")}
        description={say("outputSchemaHelp")}
        placeholder={'{ "type": "object", "properties": { … }, "required": [ … ] }'}
        disabled={isReadOnly}
        spellCheck={false}
        autosize
        minRows={4}
        maxRows={18}
        value={text}
        error={problem && say(problem)}
        onChange={(event) => changeSchemaText(event.currentTarget.value)}
        // Tidied up when left, unless it still has to be mended.
        onBlur={() => !problem && setTyped(undefined)}
      />
    </details>
  );
}
