import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");
export const ConversationStatus = ({ status }: { status: string }) => (
  <StatusLabel tone={status === "active" ? "ok" : "idle"}>
    {status === "active" ? say("active") : say("closed")}
  </StatusLabel>
);
