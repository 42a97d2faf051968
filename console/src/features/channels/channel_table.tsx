import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { RowTable } from "../../shared/list/row_table";
import { StatusPill } from "../../shared/marks/status";
import { type Outcome, OutcomeBars } from "../../shared/patterns/outcome_bars";
import { translateSentence } from "../../shared/sentences/sentences";
import { findDefaultIds, needsChannelLook } from "./channel_choice";
import { ChannelTypeIcon } from "./channel_icon";
import { ChannelState } from "./channel_state";
import { describeChannelKind } from "./channel_words";
import style from "./channels.module.css";
import { channelOutcomesQuery, DAYS_OF_MESSAGES, type DeliveryChannelListed } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const NOTHING_SENT: Outcome[] = Array.from({ length: DAYS_OF_MESSAGES }, () => ({ total: 0, failed: 0 }));

type ChannelTableProps = {
  rows: DeliveryChannelListed[];
  /** All channels: which one is used first does not depend on what is filtered. */
  all: DeliveryChannelListed[];
  chosenId?: string;
  onChoose: (id: string) => void;
};

export function ChannelTable({ rows, all, chosenId, onChoose }: ChannelTableProps) {
  const outcomes = useQuery(channelOutcomesQuery);
  const defaults = findDefaultIds(all);
  return (
    <RowTable title={say("title")} className={style.table}>
      <thead>
        <tr>
          <th>{say("name")}</th>
          <th>{say("state")}</th>
          <th className="wide">{say("days", { count: DAYS_OF_MESSAGES })}</th>
          <th className="wide num">{say("messages")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((channel) => (
          <ChannelRow
            key={channel.id}
            channel={channel}
            isDefault={defaults.has(channel.id)}
            isChosen={channel.id === chosenId}
            outcomes={outcomes.data && (outcomes.data[channel.id] ?? NOTHING_SENT)}
            onChoose={onChoose}
          />
        ))}
      </tbody>
    </RowTable>
  );
}

type ChannelRowProps = {
  channel: DeliveryChannelListed;
  isDefault: boolean;
  isChosen: boolean;
  outcomes?: Outcome[];
  onChoose: (id: string) => void;
};

const ChannelRow = memo(function ChannelRow({ channel, isDefault, isChosen, outcomes, onChoose }: ChannelRowProps) {
  const total = outcomes?.reduce((sum, day) => sum + day.total, 0);
  const problem = needsChannelLook(channel) && channel.last_error ? translateSentence(channel.last_error) : "";
  return (
    <tr className={isChosen ? "on" : ""}>
      <td>
        <button
          type="button"
          data-row
          className={`row g12 ${style.open}`}
          aria-expanded={isChosen}
          onClick={() => onChoose(channel.id)}
        >
          <ChannelTypeIcon type={channel.type} />
          <span className={`stack ${style.name}`}>
            <span className="row g6">
              <span className="t-500 cut">{channel.name}</span>
              {isDefault && (
                <span title={say("defaultHint")}>
                  <StatusPill>{say("default")}</StatusPill>
                </span>
              )}
            </span>
            <span className="t-12 t-3 cut">{describeChannelKind(channel)}</span>
          </span>
        </button>
      </td>
      <td>
        <span className={`stack ${style.state}`}>
          <ChannelState channel={channel} />
          {problem && (
            <span className="t-12 t-3 cut" title={problem}>
              {problem}
            </span>
          )}
        </span>
      </td>
      <td className="wide">
        {outcomes && (
          <OutcomeBars
            outcomes={outcomes}
            label={say("outcomeOf", {
              count: total ?? 0,
              failed: outcomes.reduce((sum, day) => sum + day.failed, 0),
              days: DAYS_OF_MESSAGES,
            })}
            width={4}
            height={20}
          />
        )}
      </td>
      <td className="wide num t-2">{total ? total.toLocaleString(locale) : "–"}</td>
    </tr>
  );
});
