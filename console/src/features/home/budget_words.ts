import { createTranslator } from "../../shared/i18n/words";
import { formatTimeLeft } from "../../shared/time";
import type { Need } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/home");
const SCOPES = ["tenant", "agent", "embed_key", "user", "provider_key"] as const;
const BLOCKS = "budget_blocks";
const REASONS = ["spent", "unaffordable", "reserved", "unpriced"] as const;

const readText = (value: unknown) => (typeof value === "string" ? value : "");
const readScope = ({ params }: Need): (typeof SCOPES)[number] => SCOPES.find((one) => one === params.scope) ?? "tenant";

/** The key of the sentence that says who does not answer; other needs have their own. */
export function titleKeyOf(need: Need): string {
  if (need.title_code !== BLOCKS) return need.title_code;
  const scope = readScope(need);
  // What was deleted answers nobody anyway.
  return scope === "tenant" || readText(need.params.scope_name) ? `${BLOCKS}_${scope}` : "budget_spent";
}

/** The key of the sentence below the title: "at 182,900%" says less than that it is over. */
export function budgetReasonKeyOf({ title_code: code, params }: Need): string {
  if (code === "budget_spent" && Number(params.percent) > 100) return "budget_over_why";
  if (code === BLOCKS && Number(params.refused_count) > 0) return "budget_blocks_refused_why";
  const reason = REASONS.find((one) => one === params.refused_because);
  return code === "budget_refuses" && reason ? `budget_refuses_${reason}_why` : `${code}_why`;
}

/** What the sentences about a budget put in: whose it is, its period, and when it begins anew. */
export function readBudgetValues(need: Need): Record<string, string> {
  if (need.kind !== "budget") return {};
  const { params } = need;
  const scope = readScope(need);
  const name = readText(params.scope_name);
  return {
    name,
    whose: scope === "tenant" || name ? say(`whose_${scope}`, { name }) : say("whose_gone"),
    span: say(params.period === "day" ? "span_day" : "span_month"),
    left: formatTimeLeft(readText(params.resets_at)),
  };
}

/** Where a budget is changed. */
export function findBudgetPlace({ params, title_code }: Need): string {
  if (title_code === "budget_refuses" && params.refused_because === "unpriced") return "/usage/prices";
  if (params.scope === "provider_key") return "/settings/models";
  return params.scope === "agent" && readText(params.scope_id)
    ? `/agents/${readText(params.scope_id)}/statistics`
    : "/usage/budgets";
}
