import MessageCircleOff from "icon:message-circle-off";
import Users from "icon:users-round";
import { useQuery } from "@tanstack/react-query";
import { createTranslator } from "../../shared/i18n/words";
import { administratorsQuery } from "../../shared/people/administrators";
import { EmptyState, EmptyStateArt } from "../../shared/states/empty";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat");
const MAX_NAMES = 3;

/** Nobody to ask yet, and who can change that. */
export function NoAgentState() {
  const { data: found } = useQuery(administratorsQuery);
  const names = (found?.data ?? []).slice(0, MAX_NAMES).map((one) => one.name);
  return (
    <EmptyState
      art={<EmptyStateArt icon={names.length ? Users : MessageCircleOff} tone="turn" />}
      title={say("noAgentsTitle")}
    >
      {names.length ? say("noAgentsWho", { names: names.join(", ") }) : say("noAgents")}
    </EmptyState>
  );
}
