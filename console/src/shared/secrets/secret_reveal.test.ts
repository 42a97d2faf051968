// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SecretReveal } from "./secret_reveal";

const newReveal = (read = () => Promise.resolve({ api_key: "s3cret" })) => {
  const reveal = new SecretReveal(read);
  return { reveal, leave: reveal.subscribe(() => undefined) };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("hides the secrets after thirty seconds", async () => {
  const { reveal } = newReveal();
  await reveal.reveal();
  expect(reveal.getSnapshot()).toMatchObject({ secrets: { api_key: "s3cret" }, secondsLeft: 30 });
  vi.advanceTimersByTime(29_000);
  expect(reveal.getSnapshot().secondsLeft).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(reveal.getSnapshot().secrets).toBeUndefined();
});

it("hides the secrets when the tab is left", async () => {
  const { reveal } = newReveal();
  await reveal.reveal();
  vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(reveal.getSnapshot().secrets).toBeUndefined();
});

it("forgets the secrets when the page is left", async () => {
  const { reveal, leave } = newReveal();
  await reveal.reveal();
  leave();
  expect(reveal.getSnapshot().secrets).toBeUndefined();
});

it("keeps the refusal and shows nothing", async () => {
  const { reveal } = newReveal(() => Promise.reject(new Error("no")));
  await reveal.reveal();
  expect(reveal.getSnapshot()).toMatchObject({ secrets: undefined, isBusy: false, error: new Error("no") });
});
