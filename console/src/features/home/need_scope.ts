import { createTranslator } from "../../shared/i18n/words";
import type { Need } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/home");
const SCOPES = ["tenant", "agent", "user", "embed_key", "provider_key"] as const;

/** What a budget applies to; what is newer than this console stands for itself. */
export function describeScope(scope: string): string {
  const known = SCOPES.find((one) => one === scope);
  return known ? say(`scope_${known}`) : scope;
}

const DETAILED = ["delivery", "run", "credential", "budget"] as const;
export type DetailedKind = (typeof DETAILED)[number];

/** Whether more is known about a need than its line says. */
export const hasNeedDetail = (need: Need): need is Need & { kind: DetailedKind } =>
  DETAILED.some((kind) => kind === need.kind);
