import { words } from "../../shared/i18n/words";
import { Status } from "../../shared/parts";
import en from "./words.en.json";

const say = words(en);
const CHANNELS = en as Record<string, string>;

export const Channel = ({ of }: { of: string }) => <>{CHANNELS[of] ?? of}</>;
export const ConversationStatus = ({ status }: { status: string }) => (
  <Status tone={status === "active" ? "ok" : "idle"}>{status === "active" ? say("active") : say("closed")}</Status>
);
