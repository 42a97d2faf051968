import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { formatMoney } from "../../shared/time";
import { costOf } from "./report";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");

/** A sum in dollars; what has no known price is never called 0. */
export function UsageCost({ counted }: { counted: Parameters<typeof costOf>[0] }) {
  const { usd, isPart } = costOf(counted);
  if (usd === null) return <>{say("noPrice")}</>;
  if (!isPart) return <>{formatMoney(usd)}</>;
  return (
    <span title={say("partUnpriced", { count: counted.unpriced_tokens.toLocaleString(locale) })}>
      <span aria-hidden>≥ </span>
      <span className="sr">{say("atLeast")} </span>
      {formatMoney(usd)}
    </span>
  );
}
