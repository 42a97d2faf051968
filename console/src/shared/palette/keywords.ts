import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/palette");

/** Other words that people have for a place, and for what is done there. */
export const PLACE_KEYWORDS: Record<string, string> = {
  "/": say("homeAlso"),
  "/agents": say("agentsAlso"),
  "/conversations": say("conversationsAlso"),
  "/traces": say("tracesAlso"),
  "/usage": say("usageAlso"),
  "/settings/models": say("modelsAlso"),
  "/settings/people": say("peopleAlso"),
};
export const signOutKeywords = say("signOutAlso");
