import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../../api/queries";
import type { Approval } from "../../shared/approvals/queries";
import { createTranslator } from "../../shared/i18n/words";
import type { Tone } from "../../shared/marks/status";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");

export const STATUS_TONES: Record<string, Tone> = { approved: "ok", rejected: "bad", pending: "warn" };
export const describeApprovalStatus = (status: Approval["status"]) => say(status);

/** The name of the person who requested an approval or decided it. */
export function usePrincipalName(approval: Approval, { type, id }: { type: string; id: string }): string {
  const { data: me } = useQuery(meQuery);
  if (me?.id === id) return say("you");
  if (type === "embed_key") return say("visitor");
  return approval.names[id] ?? say("somebody");
}
