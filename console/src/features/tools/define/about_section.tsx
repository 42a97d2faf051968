import { Select, Textarea, TextInput } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import { SheetSection } from "../../../shared/patterns/sheet";
import { TOOL_CATEGORIES } from "../filters";
import en from "../words.en.json";
import style from "./define.module.css";
import { JsonField } from "./json_field";
import type { SectionProps } from "./settings_section";

const say = createTranslator(en, "features/tools");

/** What the tool is called and when an agent shall use it. */
export const AboutToolSection = ({ entered, problemOf, onChange }: Omit<SectionProps, "onValidity">) => (
  <SheetSection title={say("what")}>
    <div className={style.fields}>
      <TextInput
        label={say("name")}
        required
        maxLength={100}
        error={problemOf("name")}
        value={entered.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Select
        label={say("category")}
        allowDeselect={false}
        data={TOOL_CATEGORIES.map((value) => ({ value, label: say(`category_${value}`) }))}
        value={entered.category}
        onChange={(category) => category && onChange({ category })}
      />
      <Textarea
        className={style.whole}
        label={say("description")}
        description={say("descriptionHint")}
        autosize
        minRows={1}
        maxRows={6}
        error={problemOf("description")}
        value={entered.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
    </div>
  </SheetSection>
);

/** The JSON Schema of the input, which models are shown and every input is checked against. */
export const InputSection = ({ entered, problemOf, onChange, onValidity }: SectionProps) => (
  <SheetSection title={say("input")} note={say(entered.type === "rest_api" ? "inputNoteOfRequests" : "inputNote")}>
    <JsonField
      aria-label={say("inputSchema")}
      placeholder='{ "type": "object", "properties": { "order": { "type": "string" } } }'
      error={problemOf("input_schema")}
      value={entered.inputSchema}
      onChange={(inputSchema) => onChange({ inputSchema })}
      onValidity={(isValid) => onValidity("input_schema", isValid)}
    />
  </SheetSection>
);
