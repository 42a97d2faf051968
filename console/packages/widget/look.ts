/*
 * How a widget looks: an attribute of its tag decides, else what its owner designed in the console, else its own.
 * What was designed is kept for a few minutes, so that the next page of a visit shows it at once and asks nobody.
 */

import { isColour, readableTextColour } from "@retinue/colours";
import type { WidgetWords } from "@retinue/words/widget";
import type { ChatError } from "./chat_error";
import type { ChatService, Design, Visitor } from "./chat_types";

const FRESH_MS = 5 * 60 * 1000;
const MAX_WAIT_MS = 1500;

/** The design from the service; null if it cannot be had, or not soon. `refuse` hears why the page may not have it. */
export async function loadWidgetDesign(
  conversation: ChatService,
  refuse: (reason: string) => void,
): Promise<Design | null> {
  const kept = conversation.readCachedDesign?.("design");
  if (kept && Date.now() - kept.at < FRESH_MS) return kept.design;
  const late = new Promise<Design | null>((resolve) => setTimeout(resolve, MAX_WAIT_MS, kept?.design ?? null));
  const asked = conversation.loadDesign?.().catch((error: ChatError) => {
    if (error.reason) refuse(error.reason);
    return null;
  });
  return Promise.race([asked ?? null, late]);
}

export type Look = {
  title: string;
  greeting: string;
  placeholder: string;
  accent: string | null;
  onAccent: string | null;
  scheme: string;
  hidesSources: boolean;
  position: "left" | "right";
  suggestions: string[];
};
type Texts = "title" | "greeting" | "placeholder" | "accent" | "on_accent" | "scheme" | "position";

/** The look of an element, by its attributes and its design. */
export function resolveWidgetLook(
  element: Pick<Element, "getAttribute">,
  design: Design | null | undefined,
  words: WidgetWords,
): Look {
  const settings = design?.settings ?? {};
  const pickText = <Own extends string | null>(name: Texts, own: Own): string | Own =>
    element.getAttribute(name.replace("_", "-")) || settings[name] || own;
  const accent = pickText("accent", null);
  const onAccent = pickText("on_accent", null);
  const listed = element.getAttribute("suggestions");
  return {
    title: pickText("title", design?.agent?.name ?? element.getAttribute("agent-name") ?? words.title),
    greeting: pickText("greeting", words.greeting),
    placeholder: pickText("placeholder", words.placeholder),
    accent: isColour(accent) ? accent : null,
    onAccent: isColour(accent) ? (isColour(onAccent) ? onAccent : readableTextColour(accent)) : null,
    scheme: pickText("scheme", "auto"),
    hidesSources: settings.show_sources === false,
    position: pickText("position", "right") === "left" ? "left" : "right",
    suggestions: (listed ? listed.split("|") : (settings.suggestions ?? [])).map((text) => text.trim()).filter(Boolean),
  };
}

/** Who the page says its visitor is; null if it says nothing. */
export function readVisitor(element: Element): Visitor | null {
  const user: Visitor = {};
  for (const name of ["id", "name", "email", "hash"] as const) {
    const value = element.getAttribute(`user-${name}`);
    if (value) user[name] = value;
  }
  return Object.keys(user).length ? user : null;
}
