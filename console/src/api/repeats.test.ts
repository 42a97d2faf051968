// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { dropRepeatedClicks, forgetClick, isRepeat, noteWrite } from "./repeats";

const button = () => document.createElement("button");

test("a click is dropped while what it asked for is under way, and for half a second", async () => {
  const create = button();
  let finish = () => {};
  expect(isRepeat(create, 0)).toBe(false);
  const answer = noteWrite(new Promise<void>((resolve) => (finish = resolve)), 10);
  expect(isRepeat(create, 20)).toBe(true);
  expect(isRepeat(create, 4000)).toBe(true);
  finish();
  await answer;
  expect(isRepeat(create, 400)).toBe(true);
  expect(isRepeat(create, 600)).toBe(false);
});

test("clicks that write nothing, other buttons and what a timer saves are let through", async () => {
  const [up, down] = [button(), button()];
  expect(isRepeat(up, 0)).toBe(false);
  expect(isRepeat(up, 100)).toBe(false);
  await noteWrite(Promise.resolve(), 900);
  expect(isRepeat(up, 1000)).toBe(false);
  await noteWrite(Promise.resolve(), 1010);
  expect(isRepeat(down, 1020)).toBe(false);
});

test("a failed write can be tried again, at once if something was changed", async () => {
  const send = button();
  expect(isRepeat(send, 0)).toBe(false);
  await noteWrite(Promise.reject(new Error("invalid")), 5).catch(() => undefined);
  expect(isRepeat(send, 100)).toBe(true);
  forgetClick();
  expect(isRepeat(send, 200)).toBe(false);
  await noteWrite(Promise.reject(new Error("offline")), 205).catch(() => undefined);
  expect(isRepeat(send, 800)).toBe(false);
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
