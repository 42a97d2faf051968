import { expect, it } from "vitest";
import { formatNotificationMessage, formatNotificationTitle, type Notification } from "./notification_words";

const notification = (more: object) =>
  ({ type: "budget_threshold", title: "T", message: "M", data: {}, ...more }) as Notification;
const budget = (spent: number, limit: number) =>
  notification({
    message: `The budget of the agent Till: East: ${spent} of ${limit} tokens are spent.`,
    data: { scope: { type: "agent", id: "agt_1" }, threshold_percent: 80, spent_tokens: spent, budget_tokens: limit },
  });

it("says that a budget is over its limit", () => {
  expect(formatNotificationTitle(budget(1829, 1))).toBe("A budget is over its limit");
  expect(formatNotificationMessage(budget(1829, 1))).toBe(
    "The budget of the agent Till: East: 1,829 of 1 token spent.",
  );
});

it("says how much of a budget is spent", () => {
  expect(formatNotificationTitle(budget(85, 100))).toBe("80% of a budget is spent");
  expect(formatNotificationMessage(budget(85, 100))).toBe(
    "The budget of the agent Till: East: 85 of 100 tokens spent.",
  );
  const money = { scope: { type: "tenant" }, threshold_percent: 80, spent_usd: 8.5, budget_usd: 10 };
  expect(formatNotificationMessage(notification({ data: money }))).toBe(
    "The budget of the organization: $8.50 of $10.00 spent.",
  );
});

it("names the permission that somebody asks for", () => {
  const asked = notification({
    type: "access_requested",
    title: "Ada asks for agents:write",
    message: "Ada asks for the permission agents:write. Give them a role that holds it.",
    data: { permission: "agents:write" },
  });
  expect(formatNotificationTitle(asked)).toBe("Ada asks for “Agents: change”");
  expect(formatNotificationMessage(asked)).toBe(
    "Ada asks for the permission “Agents: change”. Give them a role that holds it.",
  );
});

it("leaves other notifications as they are", () => {
  expect(formatNotificationTitle(notification({}))).toBe("T");
  expect(formatNotificationMessage(notification({ message: "A\n\nB" }))).toBe("A\nB");
  expect(formatNotificationTitle(notification({ title: null, type: "webhook_disabled" }))).toBe("Webhook disabled");
});
