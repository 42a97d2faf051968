/* The widget as it will look, in a frame of the console. The console asks the agent; no key and no token comes here. */
(() => {
  "use strict";
  const query = new URLSearchParams(location.search);
  const chat = document.createElement("retinue-chat");
  const turns = new Map();
  let lastTurn = 0;
  const tell = (message) => parent.postMessage({ source: "retinue-preview", ...message }, location.origin);

  chat.setAttribute("agent-id", query.get("agent") ?? "");
  chat.setAttribute("lang", query.get("lang") ?? "en");
  chat.design = { settings: {} };
  chat.conversation = {
    hasBegunBefore: false,
    sessionId: "preview",
    startAnew: () => tell({ kind: "anew" }),
    messages: async () => [],
    decided: () => new Promise(() => {}),
    // Files are not offered here: `design` allows none.
    say: ({ text }, { hear, begin }, signal) =>
      new Promise((resolve, reject) => {
        const turn = ++lastTurn;
        turns.set(turn, { hear, resolve, reject });
        signal.addEventListener("abort", () => {
          tell({ kind: "stop", turn });
          reject(new DOMException("stopped", "AbortError"));
        }, { once: true });
        tell({ kind: "ask", turn, message: text });
        begin();
      }),
  };

  addEventListener("message", ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent) return;
    if (data.kind === "design") chat.design = data.design;
    if (data.kind === "open") chat.open({ takesFocus: false });
    const turn = turns.get(data.turn);
    if (data.kind === "piece") turn?.hear(data.text);
    if (data.kind === "end") turn?.resolve(data.end);
    if (data.kind === "failure") turn?.reject(new Error(data.message));
  });
  chat.addEventListener("retinue-ready", () => tell({ kind: "ready" }));
  document.body.append(chat);
})();
