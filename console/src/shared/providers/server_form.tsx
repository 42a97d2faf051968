import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { createTranslator } from "../i18n/words";
import { SecretInput } from "../secret_input";
import { useFieldProblems } from "../use_fields";
import style from "./key_form.module.css";
import { type Tried, tryNewKey, useProviderKeyChange } from "./queries";
import { describeTestResult } from "./server_words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/providers");
const KINDS = ["ollama", "openai_compatible"] as const;
type Kind = (typeof KINDS)[number];
const EXAMPLES: Record<Kind, string> = {
  ollama: "http://192.168.1.20:11434/v1",
  openai_compatible: "http://192.168.1.20:8000/v1",
};
const hostOfAddress = (address: string) => {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
};

/** The address of a model server elsewhere: one press asks it and connects it if it answers. */
export function ModelServerForm({ onWorks }: { onWorks: (tried: Required<Tried>) => void }) {
  const [kind, setKind] = useState<Kind>("ollama");
  const [address, setAddress] = useState("");
  const [key, setKey] = useState("");
  const attempt = useProviderKeyChange(tryNewKey);
  const { form, rest, problemOf } = useFieldProblems(attempt.error, ["base_url", "api_key"]);
  const handleSubmit = async (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const base_url = address.trim();
    const secret = key.trim() ? { api_key: key.trim() } : {};
    const { key: stored, test } = await attempt.mutateAsync({
      provider: kind,
      name: hostOfAddress(base_url),
      base_url,
      ...secret,
    });
    if (stored) onWorks({ key: stored, test });
  };
  const failed = attempt.data && !attempt.data.key ? attempt.data.test : undefined;
  // The field may hold another address by now.
  const tried = hostOfAddress(attempt.variables?.base_url ?? "");
  return (
    <form className={style.form} ref={form} onSubmit={(event) => void handleSubmit(event).catch(() => undefined)}>
      <SegmentedControl
        className={style.wide}
        aria-label={say("serverKind")}
        data={KINDS.map((value) => ({ value, label: say(`kind_${value}`) }))}
        value={kind}
        onChange={(value) => setKind(value as Kind)}
      />
      <TextInput
        className={style.wide}
        label={say("address")}
        description={say("serverAddressHint")}
        placeholder={EXAMPLES[kind]}
        autoComplete="off"
        spellCheck={false}
        error={problemOf("base_url")}
        value={address}
        onChange={(event) => setAddress(event.currentTarget.value)}
      />
      <SecretInput
        label={say("serverKey")}
        autoComplete="off"
        visibilityToggleButtonProps={{ "aria-label": say("showKey") }}
        error={problemOf("api_key")}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={attempt.isPending} disabled={!address.trim()}>
        {say("connectServer")}
      </Button>
      {(failed || rest) && (
        <div className={`note bad ${style.wide}`} role="alert">
          {failed ? say("serverSilent", { host: tried, message: describeTestResult(failed.message) }) : rest}
        </div>
      )}
    </form>
  );
}
