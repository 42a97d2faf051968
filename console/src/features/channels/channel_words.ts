import { createTranslator } from "../../shared/i18n/words";
import type { ChannelProvider, DeliveryChannelListed } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
type Key = keyof typeof en;
const isKnownWord = (key: string): key is Key => key in en;

/** The name of a provider; the server's own where this console has no shorter one. */
export const channelProviderNameOf = ({ id, name }: Pick<ChannelProvider, "id"> & { name?: string }) =>
  isKnownWord(`provider_${id}`) ? say(`provider_${id}` as Key) : (name ?? id);

/** What a provider is for, in a line. */
export const describeProvider = (id: string) =>
  isKnownWord(`provider_${id}_note`) ? say(`provider_${id}_note` as Key) : "";

/** "Mail · SMTP"; the channel of the inbox is its own provider. */
export const describeChannelKind = ({ type, provider }: Pick<DeliveryChannelListed, "type" | "provider">) =>
  type === "in_app" ? say("type_in_app") : `${say(`type_${type}`)} · ${channelProviderNameOf({ id: provider })}`;

/** The words of a key: first those for this provider, where the same key means something else. */
function findKeyWord(prefix: "key" | "hint", provider: string, name: string): string | undefined {
  const found = [`${prefix}_${provider}_${name}`, `${prefix}_${name}`].find(isKnownWord);
  return found && say(found as Key);
}

/** The label of a key; one that is newer than this console is called by its name. */
export const configLabelOf = (provider: string, name: string) => findKeyWord("key", provider, name) ?? name;
export const configHintOf = (provider: string, name: string) => findKeyWord("hint", provider, name);

/** What a message is about; a type that a workflow made up has no words of its own. */
export const messageTypeNameOf = (type: string) => (isKnownWord(`about_${type}`) ? say(`about_${type}` as Key) : type);
