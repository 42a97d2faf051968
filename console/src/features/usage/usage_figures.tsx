import { useQuery } from "@tanstack/react-query";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { FigureStrip } from "../../shared/patterns/sheet";
import { formatDecimal, formatMoney } from "../../shared/time";
import type { UsagePeriodName } from "./filters";
import { usageBeforeQuery } from "./queries";
import { costOf, type UsageCounters } from "./report";
import { UsageCost } from "./usage_cost";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });

function compareCost(now: UsageCounters, before: UsageCounters | undefined, period: UsagePeriodName) {
  if (now.unpriced_tokens > 0) return say("unpricedTokens", { count: compact.format(now.unpriced_tokens) });
  // What had no price then cannot be compared with what has one now.
  if (!before || before.unpriced_tokens > 0 || !before.estimated_cost_usd) return undefined;
  const change = now.estimated_cost_usd / before.estimated_cost_usd - 1;
  const span = say(`before_${period}`);
  if (Math.abs(change) < 0.005) return say("asBefore", { span });
  return say(change > 0 ? "moreThan" : "lessThan", { share: percent.format(Math.abs(change)), span });
}

/** The figures of the period, each with one thing that explains it. */
export function UsageFigures({ totals, period }: { totals: UsageCounters; period: UsagePeriodName }) {
  const { data: before } = useQuery(usageBeforeQuery(period));
  const chats = totals.chat_requests;
  const { usd, isPart } = costOf(totals);
  return (
    <FigureStrip
      figures={[
        { name: say("cost"), value: <UsageCost counted={totals} />, note: compareCost(totals, before?.totals, period) },
        {
          name: say("chats"),
          value: whole.format(chats),
          note: chats > 0 && usd !== null && !isPart ? say("eachChat", { cost: formatMoney(usd / chats) }) : undefined,
        },
        {
          name: say("tokens"),
          value: compact.format(totals.total_tokens),
          note: totals.total_tokens
            ? say("fromCache", { share: percent.format(totals.cached_tokens / totals.total_tokens) })
            : undefined,
        },
        {
          name: say("toolCalls"),
          value: whole.format(totals.tool_executions),
          note: chats > 0 ? say("perChat", { count: formatDecimal(totals.tool_executions / chats, 0, 1) }) : undefined,
        },
      ]}
    />
  );
}
