import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { FactList } from "../../shared/patterns/sheet";
import { SECRET_MASK } from "../../shared/secrets/secret_line";
import { ChannelFigureRow } from "./channel_figures";
import { ChannelMessages } from "./channel_messages";
import { ChannelSecrets } from "./channel_secrets";
import { ChannelSwitchRow, ChannelTrouble } from "./channel_trouble";
import { configLabelOf } from "./channel_words";
import { listConfigFields, readStoredText } from "./config_draft";
import type { ChannelProvider, DeliveryChannel } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

type ChannelDetailsProps = { channel: DeliveryChannel; provider?: ChannelProvider };

/** The panel of somebody who may read channels and not change them: facts instead of fields. */
export function ChannelDetails({ channel, provider }: ChannelDetailsProps) {
  const fields = provider ? listConfigFields(provider) : [];
  const shown = fields.filter(({ name }) => name in channel.config);
  return (
    <>
      <ChannelTrouble channel={channel} />
      <ChannelSwitchRow channel={channel} />
      <FactList
        facts={[
          ...shown.map((field): [string, string] => [
            configLabelOf(channel.provider, field.name),
            field.isSecret ? SECRET_MASK : readStoredText(field, channel.config),
          ]),
          [say("priority"), String(channel.priority)],
        ]}
      />
      <ChannelSecrets channel={channel} fields={fields} />
      <ChannelFigureRow channelId={channel.id} />
      <ChannelMessages channelId={channel.id} />
      <CopyableId>{channel.id}</CopyableId>
    </>
  );
}
