import { addElementFromScript, defineElement, findOwnScript } from "@retinue/elements";
import { RetinueChat } from "./chat_element";

const script = findOwnScript();
RetinueChat.ownBase = script ? script.src.replace(/\/embed\/widget\.js.*$/, "") : "";
defineElement("retinue-chat", RetinueChat);

addElementFromScript(script, "agent-id", (attributes) => {
  const chat = document.createElement("retinue-chat");
  chat.setAttribute("base-url", RetinueChat.ownBase);
  for (const [name, value] of attributes) chat.setAttribute(name, value);
  // Without a place of its own in the page, an inline chat fills all of it.
  if (chat.hasAttribute("inline")) chat.setAttribute("fill", "");
  document.body.append(chat);
});
