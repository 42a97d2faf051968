import { expect, test, vi } from "vitest";
import { Store } from "./store";

class Counter extends Store<{ count: number; unit: string }> {
  readonly log: string[] = [];
  increase() {
    this.update({ count: this.getSnapshot().count + 1 });
  }
  protected override activate() {
    this.log.push("activate");
  }
  protected override deactivate() {
    this.log.push("deactivate");
  }
}
const newCounter = () => new Counter({ count: 0, unit: "m" });

test("a change replaces the snapshot and leaves the one before as it was", () => {
  const counter = newCounter();
  const before = counter.getSnapshot();
  expect(counter.getSnapshot()).toBe(before);
  counter.increase();
  expect(before).toEqual({ count: 0, unit: "m" });
  expect(counter.getSnapshot()).toEqual({ count: 1, unit: "m" });
});

test("listeners hear of each change until they leave", () => {
  const counter = newCounter();
  const [first, second] = [vi.fn(), vi.fn()];
  const leave = counter.subscribe(first);
  counter.subscribe(second);
  counter.increase();
  leave();
  counter.increase();
  expect(first).toHaveBeenCalledTimes(1);
  expect(second).toHaveBeenCalledTimes(2);
});

test("the work of a store lasts from its first listener to its last", () => {
  const counter = newCounter();
  const leaveFirst = counter.subscribe(() => undefined);
  const leaveSecond = counter.subscribe(() => undefined);
  leaveFirst();
  expect(counter.log).toEqual(["activate"]);
  leaveSecond();
  leaveSecond();
  expect(counter.log).toEqual(["activate", "deactivate"]);
});
