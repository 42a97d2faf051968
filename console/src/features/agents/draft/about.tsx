import { Textarea, TextInput } from "@mantine/core";
import { words } from "../../../shared/i18n/words";
import en from "../words.en.json";
import type { Edits, Snapshot } from "./draft";
import { Section } from "./section";

const say = words(en, "features/agents");
type Props = { draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };

/** How the agent is called, and what colleagues and other agents read about it. */
export function AboutSection({ draft, isReadOnly, onChange }: Props) {
  return (
    <Section title={say("about")}>
      <TextInput
        label={say("name")}
        maxLength={100}
        readOnly={isReadOnly}
        error={draft.name.trim() ? undefined : say("nameMissing")}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Textarea
        label={say("description")}
        description={say("descriptionHint")}
        autosize
        minRows={1}
        maxRows={8}
        maxLength={10_000}
        readOnly={isReadOnly}
        value={draft.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
    </Section>
  );
}
