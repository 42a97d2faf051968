import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { FactList, SheetSection } from "../../shared/patterns/sheet";
import { formatDecimal, formatDuration } from "../../shared/time";
import { channelFiguresQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const PERIODS = ["24h", "14d", "90d"] as const;

/** How much went through one channel, how much of it arrived and how long that took. */
export function ChannelFigureRow({ channelId }: { channelId: string }) {
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>("14d");
  const { data: figures, error } = useQuery(channelFiguresQuery(channelId, period));
  const ended = figures ? figures.delivered + figures.failed : 0;
  return (
    <SheetSection
      title={say("figures")}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={say("period")}
          data={PERIODS.map((value) => ({ value, label: say(`period_${value}`) }))}
          value={period}
          onChange={(value) => setPeriod(PERIODS.find((one) => one === value) ?? "14d")}
        />
      }
    >
      <RefusalNote error={error} />
      {figures && (
        <FactList
          facts={[
            [say("messages"), figures.total_sent.toLocaleString(locale)],
            [
              say("arrived"),
              ended
                ? say("arrivedShare", { percent: formatDecimal(figures.success_rate, 0, 1), count: figures.failed })
                : "–",
            ],
            [say("meanTime"), figures.delivered ? formatDuration(figures.avg_delivery_time_ms) : "–"],
            ...(figures.pending ? [[say("waiting"), figures.pending.toLocaleString(locale)] as [string, string]] : []),
          ]}
        />
      )}
    </SheetSection>
  );
}
