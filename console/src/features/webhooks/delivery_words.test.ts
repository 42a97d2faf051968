import { expect, it } from "vitest";
import { describeDelivery } from "./delivery_words";
import type { Delivery } from "./queries";

it("counts down to the next try, and says that it is under way once it is due", () => {
  const describeIn = (ms: number) =>
    describeDelivery({
      status: "pending",
      attempt: 2,
      next_attempt_at: new Date(Date.now() + ms).toISOString(),
    } as Delivery);
  expect(describeIn(-1)).toBe(describeDelivery({ status: "pending", attempt: 0, next_attempt_at: null } as Delivery));
  expect(describeIn(90_500)).toContain("1 min");
});
