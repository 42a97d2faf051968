// Known only while the script runs; a page that makes its own <retinue-chat> elements gives no agent here.
const ownScript = document.currentScript;
const OWN_BASE = ownScript ? ownScript.src.replace(/\/embed\/widget\.js.*$/, "") : "";

if (!customElements.get("retinue-chat")) customElements.define("retinue-chat", RetinueChat);

/** Put the chat into the page as the attributes of the script's own tag say. */
function addChat() {
  const chat = document.createElement("retinue-chat");
  chat.setAttribute("base-url", OWN_BASE);
  for (const { name, value } of ownScript.attributes) {
    if (name.startsWith("data-")) chat.setAttribute(name.slice(5), value);
  }
  // Without a place of its own in the page, an inline chat fills all of it.
  if (chat.hasAttribute("inline")) chat.setAttribute("fill", "");
  document.body.append(chat);
}

if (ownScript?.dataset.agentId) {
  if (document.body) addChat();
  else document.addEventListener("DOMContentLoaded", addChat, { once: true });
}
