import { usePermissionCheck } from "../../api/queries";
import { AgentChip } from "../../shared/agent/agent_chip";
import { channelNameOf } from "../../shared/channels/channel";
import { CHANNELS } from "../../shared/channels/channel_keys";
import { createTranslator } from "../../shared/i18n/words";
import { ChoiceChip } from "../../shared/list/choice_chip";
import { SearchField } from "../../shared/list/search_field";
import { LookSwitch } from "../../shared/trace/look_switch";
import { CostChip, DayChip, type FilterProps, VersionChip } from "./filter_fields";
import { PersonChip } from "./filter_person";
import { CONVERSATION_OUTCOMES, CONVERSATION_RATINGS, CONVERSATION_STATUSES } from "./filters";
import { SavedViewsMenu } from "./saved_view_list";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

type Props = FilterProps & { seesAll: boolean; shownPeople: readonly string[] };

/** Find by title, what needs a look, and a chip for each filter; the address holds all of them. */
export function ConversationToolbar({ seesAll, shownPeople, ...both }: Props) {
  const { filters, onChange } = both;
  const may = usePermissionCheck();
  return (
    <div className="toolbar">
      <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
      <LookSwitch value={filters.show} onChange={(show) => onChange({ show })} />
      <DayChip {...both} />
      {may("agents:read") && (
        // Each agent numbers its own versions.
        <AgentChip agent={filters.agent} onChange={(agent) => onChange({ agent, version: undefined })} />
      )}
      {filters.agent && <VersionChip {...both} />}
      <ChannelChip {...both} />
      {seesAll && <PersonChip {...both} shownIds={shownPeople} />}
      <RatingChip {...both} />
      <OutcomeChip {...both} />
      <CostChip {...both} />
      <StatusChip {...both} />
      <span className="push">
        <SavedViewsMenu filters={filters} />
      </span>
    </div>
  );
}

const ChannelChip = ({ filters, onChange }: FilterProps) => (
  <ChoiceChip
    label={say("channel")}
    value={filters.channel}
    choices={CHANNELS.map((value) => ({ value, label: channelNameOf(value) }))}
    onChange={(chosen) => onChange({ channel: CHANNELS.find((one) => one === chosen) })}
  />
);

const RatingChip = ({ filters, onChange }: FilterProps) => (
  <ChoiceChip
    label={say("rating")}
    value={filters.rating}
    choices={CONVERSATION_RATINGS.map((value) => ({ value, label: say(`rating_${value}`) }))}
    onChange={(chosen) => onChange({ rating: CONVERSATION_RATINGS.find((one) => one === chosen) })}
  />
);

const OutcomeChip = ({ filters, onChange }: FilterProps) => (
  <ChoiceChip
    label={say("replies")}
    value={filters.outcome}
    choices={CONVERSATION_OUTCOMES.map((value) => ({ value, label: say(`outcome_${value}`) }))}
    onChange={(chosen) => onChange({ outcome: CONVERSATION_OUTCOMES.find((one) => one === chosen) })}
  />
);

const StatusChip = ({ filters, onChange }: FilterProps) => (
  <ChoiceChip
    label={say("status")}
    value={filters.status}
    choices={CONVERSATION_STATUSES.map((value) => ({ value, label: say(value) }))}
    onChange={(chosen) => onChange({ status: CONVERSATION_STATUSES.find((one) => one === chosen) })}
  />
);
