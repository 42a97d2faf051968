import { SegmentedControl } from "@mantine/core";
import { lazy, type Ref, Suspense, useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { SheetSection } from "../../../shared/patterns/sheet";
import type { JsonValues } from "../queries";
import en from "../words.en.json";
import type { CodeView } from "./code_editor";
import style from "./define.module.css";
import { configFieldsOf, configKindOf, type Definition } from "./definition";
import { EndpointRows } from "./endpoint_rows";
import { FunctionRows } from "./function_rows";
import { JsonField } from "./json_field";
import { SchemaForm } from "./schema_form";

const say = createTranslator(en, "features/tools");
const CodeEditor = lazy(() => import("./code_editor"));
const isKeyWord = (key: string): key is keyof typeof en => key in en;
/** The name of a setting in words; a setting without words stands under its key. */
const labelOfKey = (name: string) => (isKeyWord(`key_${name}`) ? say(`key_${name}` as keyof typeof en) : undefined);

export type SectionProps = {
  entered: Definition;
  isReadOnly: boolean;
  problemOf: (name: string) => string | undefined;
  onChange: (change: Partial<Definition>) => void;
  onValidity: (name: string, isValid: boolean) => void;
};
/** What a setting does, in words for people; the description of the API is for programs. */
const hintOfKey = (name: string) => (isKeyWord(`hint_${name}`) ? say(`hint_${name}` as keyof typeof en) : undefined);

/** What the tool calls or runs: a form drawn from the API's schema of the type, or the same as JSON. */
export function SettingsSection(props: SectionProps & { codeView?: Ref<CodeView> }) {
  const { entered, isReadOnly, problemOf, onChange, onValidity, codeView } = props;
  const kind = configKindOf(entered);
  const fields = configFieldsOf(kind);
  const [way, setWay] = useState("form");
  const isJson = way === "json" || fields.length === 0;
  const { config } = entered;
  const changeConfig = (next: JsonValues) => onChange({ config: next });
  return (
    <SheetSection
      title={say("settings")}
      note={say(`type_${entered.type}`)}
      actions={
        fields.length > 0 && (
          <SegmentedControl
            aria-label={say("settingsAs")}
            data={[
              { value: "form", label: say("asForm") },
              { value: "json", label: "JSON" },
            ]}
            value={way}
            onChange={setWay}
          />
        )
      }
    >
      {isJson ? (
        <JsonField
          aria-label={say("settings")}
          value={config}
          error={problemOf("config")}
          onChange={(value) => changeConfig((value ?? {}) as JsonValues)}
          onValidity={(isValid) => onValidity("config", isValid)}
        />
      ) : (
        <>
          {kind === "function" && (
            <Suspense fallback={<pre className="code">{String(config.code ?? "")}</pre>}>
              <CodeEditor
                ref={codeView}
                value={String(config.code ?? "")}
                language={String(config.runtime ?? "python").startsWith("python") ? "python" : "javascript"}
                label={say("code")}
                isReadOnly={isReadOnly}
                onChange={(code) => changeConfig({ ...config, code })}
              />
            </Suspense>
          )}
          {kind === "rest_api" && (
            <EndpointRows
              endpoints={(config.endpoints ?? {}) as Record<string, JsonValues>}
              onChange={(endpoints) => changeConfig({ ...config, endpoints })}
              onValidity={onValidity}
            />
          )}
          <div className={style.set}>
            <SchemaForm
              fields={fields}
              values={config}
              labelOf={labelOfKey}
              hintOf={hintOfKey}
              problemOf={problemOf}
              onChange={changeConfig}
              onValidity={onValidity}
            />
          </div>
          {kind === "custom/mcp" && (
            <FunctionRows
              functions={(config.functions ?? {}) as Record<string, JsonValues>}
              onChange={(functions) => changeConfig({ ...config, functions })}
            />
          )}
        </>
      )}
    </SheetSection>
  );
}
