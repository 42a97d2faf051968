import { words } from "../i18n/words";
import en from "./words.en.json";

const say = words(en, "shared/chat");
export const CHANNELS = ["console", "public", "openai", "async", "audio", "workflow", "tool", "playground"] as const;

/** The way on which a question came in, in a word. */
export const channelName = (of: string) => {
  const key = `channel_${of}`;
  return key in en ? say(key as keyof typeof en) : of;
};
export const Channel = ({ of }: { of: string }) => <>{channelName(of)}</>;
