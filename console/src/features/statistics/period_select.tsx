import { SegmentedControl } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import { DEFAULT_PERIOD, STATISTICS_PERIODS, type StatisticsPeriod } from "./filters";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");

type Props = { lead: string; period?: StatisticsPeriod; onChange: (period?: StatisticsPeriod) => void };

/** What the page tells, and of how long a time. The usual one does not stand in the address. */
export const PeriodSelect = ({ lead, period, onChange }: Props) => (
  <div className="row between wrap g12">
    <p className="t-13 t-2">{lead}</p>
    <SegmentedControl
      aria-label={say("period")}
      data={STATISTICS_PERIODS.map((value) => ({ value, label: say(`period_${value}`) }))}
      value={period ?? DEFAULT_PERIOD}
      onChange={(chosen) => onChange(STATISTICS_PERIODS.find((one) => one === chosen && one !== DEFAULT_PERIOD))}
    />
  </div>
);
