import Database from "icon:database";
import KeyRound from "icon:key-round";
import Mail from "icon:mail";
import ShieldCheck from "icon:shield-check";
import Terminal from "icon:terminal";
import UserLock from "icon:user-lock";
import type { ComponentType } from "react";
import type { CredentialTypeName } from "./filters";

const ICONS: Record<CredentialTypeName, ComponentType<{ size?: number }>> = {
  api_key: KeyRound,
  bearer_token: KeyRound,
  basic_auth: UserLock,
  oauth2: ShieldCheck,
  database: Database,
  smtp: Mail,
  ssh: Terminal,
  custom: KeyRound,
};

export function TypeIcon({ type }: { type: CredentialTypeName }) {
  const Icon = ICONS[type];
  return (
    <span className="kind k-turn">
      <Icon size={15} />
    </span>
  );
}
