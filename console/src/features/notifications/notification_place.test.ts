import { expect, test } from "vitest";
import { findNotificationPlace } from "./notification_place";

const mayAll = () => true;
const mayNothing = () => false;
const notification = (action_url: string | null, data: object = {}) =>
  ({ action_url, data }) as Parameters<typeof findNotificationPlace>[0];
const asked = notification("/console/settings/people?person=usr_1");

test("a request for a permission opens the person who asks", () => {
  expect(findNotificationPlace(asked, mayAll)).toEqual({ to: "/settings/people", search: { person: "usr_1" } });
});

test("nobody is led to a page that refuses them", () => {
  expect(findNotificationPlace(asked, mayNothing)).toBeUndefined();
  expect(findNotificationPlace(notification("/console/usage/budgets"), mayNothing)).toBeUndefined();
});

test("a budget opens the budgets, and a model without a price the prices", () => {
  expect(findNotificationPlace(notification("/console/usage/budgets"), mayAll)?.to).toBe("/usage/budgets");
  const unpriced = notification("/console/usage/prices?search=openai%2Fown");
  expect(findNotificationPlace(unpriced, mayAll)).toEqual({ to: "/usage/prices", search: { search: "openai/own" } });
});

test("a training that failed opens the knowledge of its agent", () => {
  const failed = notification("/console/agents/agt_1/knowledge");
  expect(findNotificationPlace(failed, mayAll)?.to).toBe("/agents/agt_1/knowledge");
  expect(findNotificationPlace(failed, mayNothing)).toBeUndefined();
});

test("an approval is opened by its id, whatever address its mail names", () => {
  const waiting = notification("/approvals/apr_1?token=x", { approval_id: "apr_1" });
  expect(findNotificationPlace(waiting, mayAll)).toEqual({ to: "/approvals", search: { id: "apr_1" } });
});

test("an address elsewhere is no page of the console", () => {
  expect(findNotificationPlace(notification("https://example.com/console/usage"), mayAll)).toBeUndefined();
  expect(findNotificationPlace(notification("/consolex"), mayAll)).toBeUndefined();
  expect(findNotificationPlace(notification(null), mayAll)).toBeUndefined();
});
