// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { dropRepeatedClicks, forgetLastClick, isRepeatedClick, noteWrite } from "./repeats";

const button = () => document.createElement("button");

test("a click is dropped while what it asked for is under way, and for half a second", async () => {
  const create = button();
  let finish = () => {};
  expect(isRepeatedClick(create, 0)).toBe(false);
  const answer = noteWrite(new Promise<void>((resolve) => (finish = resolve)), 10);
  expect(isRepeatedClick(create, 20)).toBe(true);
  expect(isRepeatedClick(create, 4000)).toBe(true);
  finish();
  await answer;
  expect(isRepeatedClick(create, 400)).toBe(true);
  expect(isRepeatedClick(create, 600)).toBe(false);
});

test("clicks that write nothing, other buttons and what a timer saves are let through", async () => {
  const [up, down] = [button(), button()];
  expect(isRepeatedClick(up, 0)).toBe(false);
  expect(isRepeatedClick(up, 100)).toBe(false);
  await noteWrite(Promise.resolve(), 900);
  expect(isRepeatedClick(up, 1000)).toBe(false);
  await noteWrite(Promise.resolve(), 1010);
  expect(isRepeatedClick(down, 1020)).toBe(false);
});

test("a failed write can be tried again, at once if something was changed", async () => {
  const send = button();
  expect(isRepeatedClick(send, 0)).toBe(false);
  await noteWrite(Promise.reject(new Error("invalid")), 5).catch(() => undefined);
  expect(isRepeatedClick(send, 100)).toBe(true);
  forgetLastClick();
  expect(isRepeatedClick(send, 200)).toBe(false);
  await noteWrite(Promise.reject(new Error("offline")), 205).catch(() => undefined);
  expect(isRepeatedClick(send, 800)).toBe(false);
});

test("the second click of a double click reaches nobody", () => {
  dropRepeatedClicks();
  const heard = vi.fn(() => void noteWrite(new Promise(() => {})));
  const send = document.body.appendChild(button());
  send.addEventListener("click", heard);
  send.click();
  send.click();
  expect(heard).toHaveBeenCalledTimes(1);
});
