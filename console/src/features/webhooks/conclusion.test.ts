import { expect, it } from "vitest";
import { drawConclusion } from "./conclusion";
import type { Delivery } from "./queries";

const delivery = (minute: number, more: Partial<Delivery>) =>
  ({
    id: `dlv_${minute}`,
    created_at: `2026-11-18T09:${String(minute).padStart(2, "0")}:00Z`,
    event_type: "order.placed",
    status: "failed",
    attempt: 7,
    response_code: 503,
    error: "http_error",
    ...more,
  }) as Delivery;
const arrived = (minute: number) => delivery(minute, { status: "delivered", response_code: 200, error: null });

it("says that the receiver is down if it answers the same to everything since", () => {
  const rows = [delivery(3, { status: "pending", attempt: 2 }), delivery(2, {}), arrived(1)];
  expect(drawConclusion(rows[0] as Delivery, rows)).toEqual({ kind: "receiverDown", count: 2, answer: "503" });
});

it("says that it is this event alone if others arrived after it", () => {
  const rows = [arrived(3), delivery(2, { response_code: 400 }), arrived(1)];
  expect(drawConclusion(rows[1] as Delivery, rows)?.kind).toBe("onlyThis");
});

it("says that the receiver is too slow if it never answers in time", () => {
  const slow = delivery(2, { response_code: null, error: "timeout" });
  expect(drawConclusion(slow, [slow, arrived(1)])).toEqual({ kind: "tooSlow", count: 1, answer: "timeout" });
});

it("draws no conclusion from what arrived or was not tried, and a careful one from different answers", () => {
  expect(drawConclusion(arrived(1), [arrived(1)])).toBeUndefined();
  const waiting = delivery(1, { status: "pending", attempt: 0 });
  expect(drawConclusion(waiting, [waiting])).toBeUndefined();
  const rows = [delivery(2, {}), delivery(1, { response_code: 500 })];
  expect(drawConclusion(rows[0] as Delivery, rows)?.kind).toBe("mixed");
});
