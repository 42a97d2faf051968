import { words } from "../../shared/i18n/words";
import { timeLeft } from "../../shared/time";
import type { Need } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/home");
const SCOPES = ["tenant", "agent", "embed_key", "user", "provider_key"] as const;
const BLOCKS = "budget_blocks";

const text = (value: unknown) => (typeof value === "string" ? value : "");
const scopeOf = ({ params }: Need): (typeof SCOPES)[number] => SCOPES.find((one) => one === params.scope) ?? "tenant";

/** The key of the sentence that says who does not answer; other needs have their own. */
export function titleKeyOf(need: Need): string {
  if (need.title_code !== BLOCKS) return need.title_code;
  const scope = scopeOf(need);
  // What was deleted answers nobody anyway.
  return scope === "tenant" || text(need.params.scope_name) ? `${BLOCKS}_${scope}` : "budget_spent";
}

/** The key of the sentence below the title: "at 182,900%" says less than that it is over. */
export const whyKeyOf = ({ title_code: code, params }: Need): string =>
  code === "budget_spent" && Number(params.percent) > 100 ? "budget_over_why" : `${code}_why`;

/** What the sentences about a budget put in: whose it is, its period, and when it begins anew. */
export function budgetValues(need: Need): Record<string, string> {
  if (need.kind !== "budget") return {};
  const { params } = need;
  const scope = scopeOf(need);
  const name = text(params.scope_name);
  return {
    name,
    whose: scope === "tenant" || name ? say(`whose_${scope}`, { name }) : say("whose_gone"),
    span: say(params.period === "day" ? "span_day" : "span_month"),
    left: timeLeft(text(params.resets_at)),
  };
}

/** Where a budget is changed; those that no screen has yet say what is known where they stand. */
export function budgetPlace({ params }: Need): string | undefined {
  if (params.scope === "provider_key") return "/models";
  return params.scope === "agent" && text(params.scope_id) ? `/agents/${text(params.scope_id)}/statistics` : undefined;
}
