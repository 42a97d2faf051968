import { Button, Select, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { createTranslator } from "../i18n/words";
import { SecretInput } from "../secret_input";
import { useFieldProblems } from "../use_fields";
import style from "./key_form.module.css";
import { findProvider, guessProvider, PROVIDERS, type ProviderName, providerNameOf } from "./providers";
import { type Tried, tryNewKey, useProviderKeyChange } from "./queries";
import { describeTestResult } from "./server_words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/providers");
const CHOICES = PROVIDERS.map(({ id, name }) => ({ value: id, label: name }));

/** Paste a key: its shape names the provider, one press stores and tests it. */
export function ProviderKeyForm({ onWorks, label }: { onWorks: (tried: Required<Tried>) => void; label?: string }) {
  const [key, setKey] = useState("");
  const [chosen, setChosen] = useState<ProviderName>();
  const [url, setUrl] = useState("");
  const attempt = useProviderKeyChange(tryNewKey);
  const provider = chosen ?? guessProvider(key);
  const shape = provider && findProvider(provider);
  const isComplete = Boolean(shape && (shape.isKeyless || key.trim()) && (!shape.needsUrl || url.trim()));
  const handleSubmit = async (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (!provider || !isComplete) return;
    const { key: stored, test } = await attempt.mutateAsync({
      provider,
      name: providerNameOf(provider),
      ...(key.trim() ? { api_key: key.trim() } : {}),
      ...(url.trim() ? { base_url: url.trim() } : {}),
    });
    if (stored) {
      setKey("");
      onWorks({ key: stored, test });
    }
  };
  const { form, rest, problemOf } = useFieldProblems(attempt.error, ["api_key", "provider", "base_url"]);
  const failed = attempt.data && !attempt.data.key ? attempt.data.test : undefined;
  return (
    <form className={style.form} ref={form} onSubmit={(event) => void handleSubmit(event).catch(() => undefined)}>
      <SecretInput
        className={style.wide}
        label={say("key")}
        data-autofocus
        description={say(shape?.isKeyless ? "keyOptional" : "keyHint")}
        placeholder="sk-…"
        autoComplete="off"
        spellCheck={false}
        visibilityToggleButtonProps={{ "aria-label": say("showKey") }}
        error={problemOf("api_key")}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <Select
        label={say("provider")}
        placeholder={say("chooseProvider")}
        searchable
        data={CHOICES}
        error={problemOf("provider")}
        value={provider ?? null}
        onChange={(value) => setChosen((value as ProviderName) ?? undefined)}
      />
      {(shape?.needsUrl || shape?.isKeyless) && (
        <TextInput
          className={style.wide}
          label={say("address")}
          description={shape.needsUrl ? undefined : say("addressOptional")}
          placeholder="https://…/v1"
          error={problemOf("base_url")}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
      )}
      <Button type="submit" variant="default" loading={attempt.isPending} disabled={!isComplete}>
        {label ?? say("test")}
      </Button>
      {(failed || rest) && (
        <div className={`note bad ${style.wide}`} role="alert">
          {failed ? say("failed", { message: describeTestResult(failed.message) }) : rest}
        </div>
      )}
    </form>
  );
}
