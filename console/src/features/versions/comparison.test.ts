// @vitest-environment jsdom
import { act } from "react";
import { expect, test, vi } from "vitest";
import { createTurn, type Turn } from "../../shared/chat/chat";
import { renderHook } from "../../shared/render_hook";
import { recordTurnTimes, type TimedTurn, useComparison } from "./comparison";

const event = (name: string, data: unknown) => `event: ${name}\nid: 1\ndata: ${JSON.stringify(data)}\n\n`;
const WAITING = [
  event("message_start", { conversation_id: "con_1", message_id: "msg_1" }),
  event("message_stop", { finish_reason: "awaiting_approval" }),
].join("");

/** Each question waits for an approval; `open` are the streams that wait for what comes after the decision. */
let open = 0;
vi.stubGlobal("fetch", async (request: Request | string) => {
  if (typeof request === "string") return new Response("{}");
  const isQuestion = request.method === "POST";
  if (!isQuestion) open += 1;
  return new Response(
    new ReadableStream({
      start(control) {
        if (isQuestion) {
          control.enqueue(new TextEncoder().encode(WAITING));
          control.close();
        } else
          request.signal.addEventListener("abort", () => {
            open -= 1;
            control.error(request.signal.reason);
          });
      },
    }),
  );
});
const settled = () => act(() => new Promise((done) => setTimeout(done, 60)));

test("the time of a reply ends with its last end, not with the one that waits for an approval", () => {
  const stop = (finish_reason: string) => ({ finish_reason }) as Turn["stop"];
  const begun: TimedTurn = { ...createTurn("Refund it"), startedAt: 100 };
  const waiting = recordTurnTimes(begun, { ...begun, stop: stop("awaiting_approval") }, 300);
  const goingOn = recordTurnTimes(waiting, { ...waiting, stop: undefined, text: "Done" }, 900);
  const ended = recordTurnTimes(goingOn, { ...goingOn, stop: stop("stop") }, 1100);
  const rated = recordTurnTimes(ended, { ...ended, feedback: { rating: "positive" } }, 5000);
  expect([waiting, goingOn, ended, rated].map(({ totalMs }) => totalMs)).toEqual([200, 200, 1000, 1000]);
  expect(rated.firstWordMs).toBe(800);
});

test("replies that wait for an approval are no longer waited for once their columns are asked again", async () => {
  const onOver = vi.fn();
  const comparison = renderHook(() => useComparison("agt_1", [1, 2], { onAsk: () => undefined, onOver }));
  act(() => comparison.now.ask("First"));
  await settled();
  expect([open, comparison.now.isLive]).toEqual([2, false]);
  act(() => comparison.now.ask("Second"));
  await settled();
  expect(open).toBe(2);
  act(() => comparison.now.askAgain(1));
  await settled();
  expect(open, "the other column still waits").toBe(2);
  expect(onOver).not.toHaveBeenCalled();
  act(() => comparison.now.stop());
  await settled();
  expect(open).toBe(0);
  expect(onOver).toHaveBeenCalledExactlyOnceWith("Second", true);
  comparison.unmount();
});
