import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import style from "./channel_form.module.css";
import { type ConfigDraft, CREDENTIAL_KEY } from "./config_draft";
import { type ChannelConfig, channelCredentialsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

type CredentialChoiceProps = {
  draft: ConfigDraft;
  config: ChannelConfig;
  problem?: string;
  onChange: (draft: ConfigDraft) => void;
  /** The fields of the channel's own secrets. */
  children: ReactNode;
};

/** Where the secrets come from: entered here, or a credential of the vault that several things may share. */
export function CredentialChoice({ draft, config, problem, onChange, children }: CredentialChoiceProps) {
  const stored = config[CREDENTIAL_KEY];
  const chosen = draft[CREDENTIAL_KEY] === undefined ? stored : draft[CREDENTIAL_KEY];
  const isByCredential = typeof chosen === "string";
  const mayList = usePermissionCheck()("credentials:read");
  const choices = useQuery({ ...channelCredentialsQuery, enabled: mayList && isByCredential });
  // One that is not among the first ones, or that this person may not list, is called by its id.
  const known = choices.data ?? [];
  const isListed = !chosen || known.some(({ value }) => value === chosen);
  if (!mayList && !isByCredential) return children;
  return (
    <>
      <div className={`stack g6 ${style.whole}`}>
        <span className="t-13 t-500">{say("secretsFrom")}</span>
        <SegmentedControl
          size="xs"
          aria-label={say("secretsFrom")}
          data={[
            { value: "own", label: say("secretsOwn") },
            { value: "credential", label: say("secretsCredential") },
          ]}
          value={isByCredential ? "credential" : "own"}
          onChange={(value) =>
            onChange({
              ...draft,
              [CREDENTIAL_KEY]: value === "credential" ? (typeof stored === "string" ? stored : "") : null,
            })
          }
        />
      </div>
      {isByCredential ? (
        <Select
          className={style.whole}
          label={say("credential")}
          description={say("credentialHint")}
          searchable
          error={problem ?? choices.error?.message}
          nothingFoundMessage={say("noCredential")}
          data={isListed ? known : [{ value: chosen, label: chosen }, ...known]}
          value={chosen || null}
          onChange={(id) => onChange({ ...draft, [CREDENTIAL_KEY]: id ?? "" })}
        />
      ) : (
        children
      )}
    </>
  );
}
