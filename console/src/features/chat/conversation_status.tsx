import { words } from "../../shared/i18n/words";
import { Status } from "../../shared/marks/status";
import en from "./words.en.json";

const say = words(en, "features/chat");
export const ConversationStatus = ({ status }: { status: string }) => (
  <Status tone={status === "active" ? "ok" : "idle"}>{status === "active" ? say("active") : say("closed")}</Status>
);
