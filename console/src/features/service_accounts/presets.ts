import { CHAT_PERMISSIONS } from "../../shared/permissions/permissions";
import { listGrantable } from "./grants";

/** What a program usually may do; `own` is chosen key by key. */
export const PRESETS = ["chat", "read", "everything", "own"] as const;
export type Preset = (typeof PRESETS)[number];

/** The keys of a preset, of those that somebody may give who holds these: nobody gives more than they hold. */
export function listPresetKeys(preset: Preset, held: string[]): string[] {
  const grantable = listGrantable(held).flatMap(([, keys]) => keys);
  if (preset === "everything") return grantable;
  if (preset === "read") return grantable.filter((key) => key.endsWith(":read"));
  if (preset === "chat")
    return grantable.includes("agents:chat") ? grantable.filter((key) => CHAT_PERMISSIONS.includes(key)) : [];
  return [];
}

/** A call that works as it stands: it gets a token and asks what the token may do. */
export const writeFirstCall = (server: string, clientId: string, clientSecret: string): string =>
  [
    `API_TOKEN=$(curl -s ${server}/auth/token \\`,
    "  -d grant_type=client_credentials \\",
    `  -u ${clientId}:${clientSecret} |`,
    `  sed 's/.*"access_token": *"\\([^"]*\\)".*/\\1/')`,
    `curl ${server}/me/permissions -H "Authorization: Bearer $API_TOKEN"`,
  ].join("\n");
