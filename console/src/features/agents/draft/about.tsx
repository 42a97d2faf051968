import { Textarea, TextInput } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import { TagsField } from "../../../shared/tags_field";
import { settingLabel } from "../../../shared/versions/labels";
import en from "../words.en.json";
import type { Edits, Snapshot } from "./draft";
import { DraftSection } from "./section";

const say = createTranslator(en, "features/agents");
type Props = { draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };

/** How the agent is called, and what colleagues and other agents read about it. */
export function AboutSection({ draft, isReadOnly, onChange }: Props) {
  return (
    <DraftSection title={say("about")}>
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
      <TagsField
        label={settingLabel("starters")}
        description={say("startersHint")}
        readOnly={isReadOnly}
        maxTags={4}
        maxLength={200}
        splitChars={[]}
        value={draft.starters}
        onChange={(starters) => onChange({ starters })}
      />
    </DraftSection>
  );
}
