import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { SheetSection } from "../../shared/patterns/sheet";
import { RevealControl, useRevealedSecrets } from "../../shared/secrets/reveal_control";
import { SecretLine } from "../../shared/secrets/secret_line";
import { configLabelOf } from "./channel_words";
import type { ConfigField } from "./config_draft";
import { type DeliveryChannel, revealChannel } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

type ChannelSecretsProps = { channel: DeliveryChannel; fields: ConfigField[] };

/** The secrets that are stored, for those who may see them in clear. */
export function ChannelSecrets({ channel, fields }: ChannelSecretsProps) {
  const mayReveal = usePermissionCheck()("notification_channels:reveal");
  const revealed = useRevealedSecrets(channel.id, revealChannel);
  const stored = fields.filter((field) => field.isSecret && field.name in channel.config);
  if (!mayReveal || !stored.length) return null;
  return (
    <SheetSection title={say("secrets")} note={say("revealNote")} actions={<RevealControl revealed={revealed} />}>
      <RefusalNote error={revealed.error} />
      {revealed.secrets && (
        <ul className="card">
          {stored.map(({ name }) => (
            <SecretLine key={name} name={configLabelOf(channel.provider, name)} clear={revealed.secrets?.[name]} />
          ))}
        </ul>
      )}
    </SheetSection>
  );
}
