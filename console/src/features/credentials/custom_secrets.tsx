import Plus from "icon:plus";
import X from "icon:x";
import { ActionIcon, Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { SecretInput } from "../../shared/secret_input";
import type { SecretValues } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
type Pair = { key: string; value: string };
type CustomSecretsProps = { values: SecretValues; problem?: string; onChange: (values: SecretValues) => void };

/** Secrets of no known type: the person names the keys. */
export function CustomSecrets({ values, problem, onChange }: CustomSecretsProps) {
  const [pairs, setPairs] = useState<Pair[]>(() => {
    const given = Object.entries(values).map(([key, value]) => ({ key, value: String(value) }));
    return given.length ? given : [{ key: "", value: "" }];
  });
  const changePairs = (next: Pair[]) => {
    setPairs(next);
    onChange(Object.fromEntries(next.filter(({ key }) => key.trim()).map(({ key, value }) => [key.trim(), value])));
  };
  const changePair = (place: number, change: Partial<Pair>) =>
    changePairs(pairs.map((pair, at) => (at === place ? { ...pair, ...change } : pair)));
  return (
    <div className="stack g8">
      {pairs.map((pair, place) => (
        <div key={place} className="row g8">
          <TextInput
            className="grow"
            aria-label={say("customKey")}
            placeholder={say("customKey")}
            value={pair.key}
            onChange={(event) => changePair(place, { key: event.currentTarget.value })}
          />
          <SecretInput
            className="grow"
            aria-label={say("customValue")}
            placeholder={say("customValue")}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": say("showSecret", { name: pair.key }) }}
            value={pair.value}
            onChange={(event) => changePair(place, { value: event.currentTarget.value })}
          />
          <ActionIcon
            aria-label={say("removeKey", { name: pair.key || place + 1 })}
            disabled={pairs.length === 1}
            onClick={() => changePairs(pairs.filter((_, at) => at !== place))}
          >
            <X size={14} />
          </ActionIcon>
        </div>
      ))}
      <ProblemNote>{problem}</ProblemNote>
      <div>
        <Button
          size="xs"
          variant="subtle"
          leftSection={<Plus size={13} />}
          onClick={() => setPairs([...pairs, { key: "", value: "" }])}
        >
          {say("addKey")}
        </Button>
      </div>
    </div>
  );
}
