/* The widget as it will look, in a frame of the console. The console asks the agent; no key and no token comes here. */

import type { RetinueChat } from "./chat_element";
import type { Design, ReplyEnd } from "./chat_types";

type Turn = { hear: (piece: string) => void; resolve: (end: ReplyEnd) => void; reject: (error: Error) => void };
/** What the console says to the frame. */
type Told =
  | { kind: "design"; design: Design }
  | { kind: "open" }
  | { kind: "piece"; turn: number; text: string }
  | { kind: "end"; turn: number; end: ReplyEnd }
  | { kind: "failure"; turn: number; message: string };

const query = new URLSearchParams(location.search);
/** A hosted page is shown in the same way as the widget. */
const chat = document.createElement(query.get("of") === "page" ? "retinue-page" : "retinue-chat") as RetinueChat;
const turns = new Map<number, Turn>();
let lastTurn = 0;
const tellConsole = (message: object) => parent.postMessage({ source: "retinue-preview", ...message }, location.origin);

chat.setAttribute("agent-id", query.get("agent") ?? "");
chat.setAttribute("lang", query.get("lang") ?? "en");
chat.design = { settings: {} };
chat.conversation = {
  hasBegunBefore: false,
  sessionId: "preview",
  startAnew: () => tellConsole({ kind: "anew" }),
  loadMessages: async () => [],
  waitForDecision: () => new Promise(() => {}),
  // Files are not offered here: `design` allows none.
  sendQuestion: ({ text }, { hear, begin }, signal) =>
    new Promise((resolve, reject) => {
      lastTurn += 1;
      const turn = lastTurn;
      turns.set(turn, { hear, resolve, reject });
      const stopReply = () => {
        tellConsole({ kind: "stop", turn });
        reject(new DOMException("stopped", "AbortError"));
      };
      signal.addEventListener("abort", stopReply, { once: true });
      tellConsole({ kind: "ask", turn, message: text });
      begin();
    }),
};

addEventListener("message", ({ origin, source, data }: MessageEvent<Told>) => {
  if (origin !== location.origin || source !== parent) return;
  if (data.kind === "design") chat.design = data.design;
  if (data.kind === "open") chat.open({ takesFocus: false });
  if (data.kind === "piece") turns.get(data.turn)?.hear(data.text);
  if (data.kind === "end") turns.get(data.turn)?.resolve(data.end);
  if (data.kind === "failure") turns.get(data.turn)?.reject(new Error(data.message));
});
chat.addEventListener("retinue-ready", () => tellConsole({ kind: "ready" }));
document.body.append(chat);
