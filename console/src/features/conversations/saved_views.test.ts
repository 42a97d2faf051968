import { beforeEach, expect, it } from "vitest";
import { type KeptTexts, SavedViews } from "./saved_views";

let kept: Map<string, string>;
let storage: KeptTexts;

beforeEach(() => {
  kept = new Map();
  storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value) };
});

const namesOf = (views: SavedViews) => views.getSnapshot().views.map((one) => one.name);

it("keeps a view for the same person alone", () => {
  new SavedViews("usr_1", storage).save("  Failed   this week ", "?outcome=failed&period=7d");
  expect(new SavedViews("usr_1", storage).getSnapshot().views).toEqual([
    { name: "Failed this week", address: "?outcome=failed&period=7d" },
  ]);
  expect(namesOf(new SavedViews("usr_2", storage))).toEqual([]);
});

it("a name stands for one view", () => {
  const views = new SavedViews("usr_1", storage);
  views.save("Dear", "?cost=1");
  views.save("Mine", "?person=usr_1");
  views.save("Dear", "?cost=5");
  expect(views.getSnapshot().views).toEqual([
    { name: "Mine", address: "?person=usr_1" },
    { name: "Dear", address: "?cost=5" },
  ]);
  views.rename("Mine", "Dear");
  expect(views.getSnapshot().views).toEqual([{ name: "Dear", address: "?person=usr_1" }]);
});

it("renames and removes, and takes no empty name", () => {
  const views = new SavedViews("usr_1", storage);
  views.save("Dear", "?cost=1");
  views.rename("Dear", "  ");
  views.save(" ", "?cost=2");
  expect(namesOf(views)).toEqual(["Dear"]);
  views.rename("Dear", "Expensive");
  expect(namesOf(new SavedViews("usr_1", storage))).toEqual(["Expensive"]);
  views.remove("Expensive");
  expect(namesOf(new SavedViews("usr_1", storage))).toEqual([]);
});

it("starts anew from what is no list of views", () => {
  for (const damaged of ["{", '{"a":1}', '[1,null,{"name":"x"}]']) {
    kept.set("retinue.views.conversations.usr_1", damaged);
    expect(namesOf(new SavedViews("usr_1", storage))).toEqual([]);
  }
});

it("tells its listeners", () => {
  const views = new SavedViews("usr_1", storage);
  let told = 0;
  views.subscribe(() => {
    told += 1;
  });
  views.save("Dear", "?cost=1");
  expect(told).toBe(1);
});
