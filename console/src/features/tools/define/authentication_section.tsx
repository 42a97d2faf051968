import { SegmentedControl, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePermissionCheck } from "../../../api/queries";
import { createTranslator } from "../../../shared/i18n/words";
import { SheetSection } from "../../../shared/patterns/sheet";
import { SecretInput } from "../../../shared/secret_input";
import { credentialChoicesQuery } from "../queries";
import en from "../words.en.json";
import style from "./define.module.css";
import type { SectionProps } from "./settings_section";

const say = createTranslator(en, "features/tools");
const AUTH_TYPES = ["none", "api_key", "bearer", "basic", "oauth2", "custom"] as const;
/** The keys that each way of signing in takes; what is no secret is shown while it is typed. */
const OWN_KEYS: Record<(typeof AUTH_TYPES)[number], string[]> = {
  none: [],
  api_key: ["api_key_header", "api_key_value"],
  bearer: ["token"],
  basic: ["username", "password"],
  oauth2: ["token_url", "client_id", "client_secret", "scope"],
  custom: [],
};
const SECRET_KEYS = ["api_key_value", "token", "password", "client_secret"];

type Props = Omit<SectionProps, "onValidity"> & { storedCredentialId?: string | null };

/** How the tool signs in: with a credential of the vault, or with secrets of its own that are never shown again. */
export function AuthenticationSection({ entered, problemOf, onChange, storedCredentialId }: Props) {
  const mayChoose = usePermissionCheck()("credentials:read");
  const [chosenWay, setWay] = useState<string>();
  const own = entered.authConfig ?? {};
  const hasOwnSecret = SECRET_KEYS.some((key) => key in own);
  const way = chosenWay ?? (!hasOwnSecret && (storedCredentialId || mayChoose) ? "vault" : "own");
  // Secrets are replaced as a whole: what is kept has to be sent along.
  const kept = way === "vault" && storedCredentialId ? { credential_id: storedCredentialId } : {};
  const setOwnKey = (key: string, value: string) =>
    onChange({ authConfig: { ...kept, ...own, [key]: value || undefined } });
  return (
    <SheetSection title={say("signsIn")} note={say("signsInNote")}>
      <div className={style.fields}>
        <Select
          label={say("signsInWith")}
          allowDeselect={false}
          data={AUTH_TYPES.map((value) => ({ value, label: say(`auth_${value}`) }))}
          value={entered.authType}
          onChange={(value) =>
            onChange({ authType: AUTH_TYPES.find((name) => name === value) ?? "none", authConfig: undefined })
          }
        />
        {entered.authType !== "none" && mayChoose && (
          <div className="stack g4">
            <span className="t-13 t-500">{say("secretsFrom")}</span>
            <SegmentedControl
              aria-label={say("secretsFrom")}
              data={[
                { value: "vault", label: say("fromVault") },
                { value: "own", label: say("fromOwn"), disabled: OWN_KEYS[entered.authType].length === 0 },
              ]}
              value={way}
              onChange={(next) => {
                setWay(next);
                onChange({ authConfig: undefined });
              }}
            />
          </div>
        )}
        {entered.authType !== "none" && way === "vault" && mayChoose && (
          <CredentialSelect
            chosenId={(own.credential_id as string | undefined) ?? storedCredentialId ?? null}
            problem={problemOf("auth_config.credential_id")}
            onChoose={(id) => onChange({ authConfig: { ...own, credential_id: id } })}
          />
        )}
        {entered.authType === "api_key" && way === "vault" && (
          <TextInput
            label={say("keyHeader")}
            value={String(own.api_key_header ?? "")}
            onChange={(event) => setOwnKey("api_key_header", event.currentTarget.value)}
          />
        )}
        {way === "own" &&
          OWN_KEYS[entered.authType].map((key) => {
            const Input = SECRET_KEYS.includes(key) ? SecretInput : TextInput;
            return (
              <Input
                key={key}
                label={<span className="mono t-12">{key}</span>}
                aria-label={key}
                autoComplete="new-password"
                error={problemOf(`auth_config.${key}`)}
                value={String(own[key] ?? "")}
                onChange={(event) => setOwnKey(key, event.currentTarget.value)}
              />
            );
          })}
      </div>
    </SheetSection>
  );
}

type CredentialSelectProps = { chosenId: string | null; problem?: string; onChoose: (id: string) => void };

function CredentialSelect({ chosenId, problem, onChoose }: CredentialSelectProps) {
  const { data: credentials } = useQuery(credentialChoicesQuery);
  return (
    <Select
      label={say("credential")}
      searchable
      allowDeselect={false}
      error={problem}
      nothingFoundMessage={say("noCredential")}
      data={(credentials?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={chosenId}
      onChange={(id) => id && onChoose(id)}
    />
  );
}
