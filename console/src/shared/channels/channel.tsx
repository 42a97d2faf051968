import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/channels");

/** The way on which a question came in, in a word. */
export const channelNameOf = (channel: string) => (channel in en ? say(channel as keyof typeof en) : channel);
export const ChannelLabel = ({ channel }: { channel: string }) => <>{channelNameOf(channel)}</>;
