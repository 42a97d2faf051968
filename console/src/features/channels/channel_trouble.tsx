import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { translateSentence } from "../../shared/sentences/sentences";
import { showToast } from "../../shared/toast/toasts";
import { needsChannelLook } from "./channel_choice";
import { ChannelState } from "./channel_state";
import {
  channelOutcomesQuery,
  DAYS_OF_MESSAGES,
  type DeliveryChannel,
  updateChannel,
  useChannelChange,
} from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

/** What the provider said last if it refused, and how much did not arrive. */
export function ChannelTrouble({ channel }: { channel: DeliveryChannel }) {
  const { data: outcomes } = useQuery(channelOutcomesQuery);
  const failed = outcomes?.[channel.id]?.reduce((sum, day) => sum + day.failed, 0) ?? 0;
  if (!needsChannelLook(channel) || !channel.last_error) return null;
  return (
    <Note tone="bad">
      <p>{translateSentence(channel.last_error)}</p>
      {failed > 0 && <p>{say("notSent", { count: failed, days: DAYS_OF_MESSAGES })}</p>}
    </Note>
  );
}

/** How it stands, and the switch; a switch acts at once. */
export function ChannelSwitchRow({ channel }: { channel: DeliveryChannel }) {
  const mayWrite = usePermissionCheck()("notification_channels:write");
  const change = useChannelChange(updateChannel);
  return (
    <div className="row g8 between">
      <ChannelState channel={channel} />
      {mayWrite && (
        <Switch
          size="xs"
          labelPosition="left"
          label={say("on")}
          checked={change.isPending ? change.variables.active === true : channel.active}
          onChange={(event) =>
            change.mutate(
              { id: channel.id, active: event.currentTarget.checked },
              { onError: (error) => showToast(asApiError(error).message) },
            )
          }
        />
      )}
    </div>
  );
}
