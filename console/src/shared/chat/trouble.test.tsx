// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";
import { createTurn } from "./chat";
import { ReplyError } from "./trouble";

vi.mock("@tanstack/react-router", () => ({ Link: ({ children }: { children: string }) => <a href="/">{children}</a> }));
window.matchMedia ??= (() => ({ matches: false, addEventListener() {}, removeEventListener() {} })) as never;
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function said(reason: string): string {
  const details = { scope: { type: "tenant", id: null }, limit_tokens: 100, reason };
  const error = { code: "budget_exceeded", message: "Over.", details };
  const place = document.createElement("div");
  act(() => createRoot(place).render(<ReplyError turn={createTurn("Where?")} error={error} />));
  return place.textContent ?? "";
}

it.each([
  ["spent", "The budget of your organization of 100 tokens is used up."],
  ["unaffordable", "This question costs more than is left of the budget."],
  ["reserved", "Other requests are using the rest of the budget."],
])("says of a budget that is %s what can be done about it", (reason, text) => expect(said(reason)).toContain(text));

it("ends each sentence, and leads to the models after the last one", () => {
  const error = { code: "model_error", message: "openai had an error" };
  const place = document.createElement("div");
  const onRetry = () => undefined;
  const shown = <ReplyError turn={createTurn("Where?")} error={error} isPutBack onRetry={onRetry} />;
  act(() => createRoot(place).render(<MantineProvider>{shown}</MantineProvider>));
  expect(place.querySelector("span.grow")?.textContent).toBe(
    "The model did not answer. openai had an error. Your question is in the field below. Open Models",
  );
});
