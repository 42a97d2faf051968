import type { components } from "../../api/schema";
import { createTranslator } from "../../shared/i18n/words";
import { permissionNameOf } from "../../shared/permissions/permissions";
import { translateSentence, translateText } from "../../shared/sentences/sentences";
import { formatMoney, localizeTimes } from "../../shared/time";
import en from "./words.en.json";

export type Notification = components["schemas"]["NotificationOut"];
type Data = Record<string, unknown>;

const say = createTranslator(en, "features/notifications");
const SCOPES = ["tenant", "agent", "embed_key", "user", "provider_key"] as const;

const readNumber = (value: unknown) => (typeof value === "number" ? value : undefined);

/** The name of a type, for a notification without a title. */
const describeType = (type: string) => (`type_${type}` in en ? say(`type_${type}` as keyof typeof en) : say("other"));

type BudgetFigures = { spent: number; limit: number; isUsd: boolean; percent: number };

function readBudgetFigures({ type, data }: Notification): BudgetFigures | undefined {
  const { spent_usd, budget_usd, spent_tokens, budget_tokens, threshold_percent } = data as Data;
  const isUsd = typeof budget_usd === "number";
  const spent = readNumber(isUsd ? spent_usd : spent_tokens);
  const limit = readNumber(isUsd ? budget_usd : budget_tokens);
  const percent = readNumber(threshold_percent);
  if (type !== "budget_threshold" || spent === undefined || limit === undefined || percent === undefined) return;
  return { spent, limit, isUsd, percent };
}

/** A request for a permission names it by its key. */
function translatePermission(text: string, { type, data }: Notification): string {
  const { permission } = data as Data;
  if (type !== "access_requested" || typeof permission !== "string" || !permission) return text;
  return text.replace(permission, () => say("quoted", { text: permissionNameOf(permission) }));
}

export function formatNotificationTitle(notification: Notification): string {
  const budget = readBudgetFigures(notification);
  if (budget) return budget.spent > budget.limit ? say("budgetOver") : say("budgetAt", { percent: budget.percent });
  if (!notification.title) return describeType(notification.type);
  return translatePermission(translateSentence(notification.title), notification);
}

/** Whose budget it is stands in the message only: the data has its id. */
function describeOwner({ data, message }: Notification): string {
  const scope = (data as { scope?: { type?: unknown } }).scope?.type;
  const kind = SCOPES.find((one) => one === scope) ?? "tenant";
  const name = new RegExp(`^The budget of the ${kind.replace("_", " ")} (.+): [^:]+$`, "s").exec(message ?? "")?.[1];
  return say(`whose_${kind}`, { name: name ?? "" }).trim();
}

export function formatNotificationMessage(notification: Notification): string {
  const budget = readBudgetFigures(notification);
  if (budget)
    return say("budgetSpent", {
      whose: describeOwner(notification),
      spent: budget.isUsd ? formatMoney(budget.spent) : budget.spent,
      limit: budget.isUsd ? formatMoney(budget.limit) : say("tokenCount", { count: budget.limit }),
    });
  // Mails have room between paragraphs, a row has not.
  const message = localizeTimes(translateText(notification.message ?? "")).replace(/\n{2,}/g, "\n");
  return translatePermission(message, notification);
}
