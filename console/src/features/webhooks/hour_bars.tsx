import { createTranslator } from "../../shared/i18n/words";
import { OutcomeBars } from "../../shared/patterns/outcome_bars";
import type { DeliveryCount } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

type Props = { name: string; series: DeliveryCount[]; isFailing: boolean; width?: number; height?: number };

/** Deliveries by hour. What still waits is counted as failed while the receiver refuses everything. */
export function HourBars({ name, series, isFailing, width = 5, height = 24 }: Props) {
  const outcomes = series.map(({ delivered, failed, pending }) => ({
    total: delivered + failed + pending,
    failed: failed + (isFailing ? pending : 0),
  }));
  const total = outcomes.reduce((sum, one) => sum + one.total, 0);
  const lost = outcomes.reduce((sum, one) => sum + one.failed, 0);
  return (
    <OutcomeBars
      outcomes={outcomes}
      label={say("hoursOf", { name, count: total, failed: lost })}
      width={width}
      height={height}
    />
  );
}
