import { Select } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { CONFIG_KINDS, type Definition, firstConfigOf, newToolOf } from "../define/definition";
import { DefinitionForm } from "../define/definition_form";
import { TOOL_TYPES } from "../filters";
import { createTool, useToolChange } from "../queries";
import en from "../words.en.json";
import { CreateFoot, type WayProps } from "./create_foot";
import { TrialSection } from "./trial_section";

const say = createTranslator(en, "features/tools");
const isWord = (key: string): key is keyof typeof en => key in en;
const kindName = (kind: string) => {
  const key = `kind_${kind.replace("custom/", "")}`;
  return isWord(key) ? say(key) : kind;
};

/** An empty tool of a kind, with its worked example in the settings. */
export const newDefinitionOf = (kind: string): Definition => ({
  name: "",
  description: "",
  category: "custom",
  type: TOOL_TYPES.find((type) => type === kind) ?? "custom",
  config: firstConfigOf(kind),
  authType: "none",
  inputSchema: undefined,
  requiresApproval: false,
  approval: null,
});

/** A tool from a form, which begins as the example of its kind. */
export function FormWay({ kinds = CONFIG_KINDS, onMade, onCancel }: WayProps & { kinds?: string[] }) {
  const [kind, setKind] = useState(kinds[0] ?? "function");
  return (
    <>
      {kinds.length > 1 && (
        <Select
          label={say("type")}
          description={say("exampleHint")}
          allowDeselect={false}
          data={kinds.map((value) => ({ value, label: kindName(value) }))}
          value={kind}
          onChange={(value) => value && setKind(value)}
        />
      )}
      <NewDefinition key={kind} first={newDefinitionOf(kind)} onMade={onMade} onCancel={onCancel} />
    </>
  );
}

/** What will be made, to be completed; `first` is what stands in the fields at first. */
export function NewDefinition({ first, onMade, onCancel }: WayProps & { first: Definition }) {
  const [entered, setEntered] = useState(first);
  const [invalid, setInvalid] = useState<Record<string, boolean>>({});
  const create = useToolChange(createTool);
  return (
    <>
      <DefinitionForm
        entered={entered}
        error={create.error}
        isReadOnly={false}
        onChange={(change) => setEntered((before) => ({ ...before, ...change }))}
        onValidity={(name, isValid) => setInvalid((before) => ({ ...before, [name]: !isValid }))}
      />
      <TrialSection entered={entered} isBlocked={Object.values(invalid).includes(true)} />
      <CreateFoot
        text={say(entered.authConfig?.credential_id ? "onlyCredentialStored" : "nothingStored")}
        isBusy={create.isPending}
        isDisabled={!entered.name.trim() || Object.values(invalid).includes(true)}
        onCreate={() => create.mutate(newToolOf(entered), { onSuccess: onMade })}
        onCancel={onCancel}
      />
    </>
  );
}
