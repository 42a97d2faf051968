// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { OPERATE_TABS } from "../operate/tabs";
import { PLACE_KEYWORDS } from "../palette/keywords";
import { SETTINGS_TABS } from "../settings/tabs";
import { USAGE_TABS } from "../usage/tabs";
import { mergeCommands, readShownCommands } from "./commands";
import { listCreatables } from "./creations";
import { NAVIGATION } from "./navigation";
import { filterPalette, isActionSearch } from "./palette_filter";
import { listConsolePlaces } from "./places";

const ENTRIES = NAVIGATION.flatMap((group) => group.entries);
const EVERYTHING = [...ENTRIES, ...SETTINGS_TABS]
  .flatMap(({ needs }) => needs ?? [])
  .concat(
    "agents:write",
    "tools:write",
    "credentials:write",
    "admin:users",
    "api_keys:write",
    "service_accounts:write",
  );

describe("places", () => {
  it("are all entries of the navigation and all tabs, without a list of their own", () => {
    const wanted = [...ENTRIES, ...SETTINGS_TABS, ...USAGE_TABS, ...OPERATE_TABS].map(({ to }) => to).concat("/traces");
    expect(new Set(listConsolePlaces(EVERYTHING).map(({ to }) => to))).toEqual(new Set(wanted));
  });

  it("stand in the order of the navigation, tabs behind their area", () => {
    const shown = listConsolePlaces(EVERYTHING).map(({ to }) => to);
    expect(shown.slice(shown.indexOf("/settings"))).toEqual(
      ["/settings", ...SETTINGS_TABS.map(({ to }) => to)].concat(
        shown.slice(shown.indexOf("/settings") + 1 + SETTINGS_TABS.length),
      ),
    );
  });

  it("are only those that the person may open", () => {
    const shown = listConsolePlaces(["tools:read"]).map(({ to }) => to);
    expect(shown).toContain("/tools");
    expect(shown).not.toContain("/agents");
    expect(shown.filter((to) => to.startsWith("/settings"))).toEqual([]);
  });
});

describe("what can be created", () => {
  it("stands in the order of the navigation", () => {
    const order = listCreatables(EVERYTHING, () => true).map(({ to }) => to);
    expect(order.indexOf("/agents")).toBeLessThan(order.indexOf("/tools/new"));
    expect(order.indexOf("/tools/new")).toBeLessThan(order.indexOf("/settings/service-accounts"));
  });

  it("needs the permission to write and a page", () => {
    expect(listCreatables(["tools:read"], () => true)).toEqual([]);
    expect(listCreatables(["tools:read", "tools:write"], () => false)).toEqual([]);
    expect(listCreatables(["tools:read", "tools:write"], () => true)).toHaveLength(1);
  });
});

describe("commands of a page", () => {
  const clicked = vi.fn();
  beforeEach(() => {
    document.body.innerHTML = "";
    const bar = document.createElement("div");
    bar.dataset.commands = "";
    for (const [text, isOff] of [
      ["Publish", false],
      ["Delete", true],
      ["Run", false],
    ] as const) {
      const button = document.createElement("button");
      button.append(text, Object.assign(document.createElement("kbd"), { textContent: "R" }));
      button.disabled = isOff;
      button.addEventListener("click", clicked);
      bar.append(button);
    }
    document.body.append(bar, document.createElement("button"));
  });

  it("are the buttons of its bar that can be pressed", () => {
    expect(readShownCommands(document).map(({ label }) => label)).toEqual(["Publish", "Run"]);
  });

  it("press the button once the palette is gone", () => {
    vi.useFakeTimers();
    readShownCommands(document)[0]?.run();
    expect(clicked).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(clicked).toHaveBeenCalledOnce();
    vi.useRealTimers();
  });

  it("stand once, with their keys, if the page registers what a button does too", () => {
    const run = () => undefined;
    const merged = mergeCommands([{ label: "Run", keys: "r", run }], readShownCommands(document));
    expect(merged.map(({ label, keys }) => [label, keys])).toEqual([
      ["Run", "r"],
      ["Publish", undefined],
    ]);
  });
});

it.each([
  ["traces", "/traces"],
  ["statistics", "/usage"],
  ["publish", "/agents"],
  ["api key", "/settings/models"],
])("%j is found as a place", (text, place) => {
  const actions = listConsolePlaces(EVERYTHING).map((one) => ({ ...one, keywords: PLACE_KEYWORDS[one.to] }));
  const found = filterPalette(text, [{ group: "Places", actions }], []);
  expect(found.flatMap(({ actions }) => actions.map(({ to }) => to))).toContain(place);
});

describe("the filter", () => {
  const groups = [
    { group: "Places", actions: [{ label: "Settings › Roles" }, { label: "Agents", keywords: "bots" }] },
    { group: "Objects", actions: [{ label: "Ελένη" }] },
  ];

  it("finds every word in any order, also in keywords", () => {
    expect(filterPalette("roles set", groups, [])).toEqual([
      { group: "Places", actions: [{ label: "Settings › Roles" }] },
    ]);
    expect(filterPalette("bots", groups, [])[0]?.actions[0]?.label).toBe("Agents");
  });

  it("keeps what the server has chosen", () => {
    expect(filterPalette("eleni", groups, ["Objects"])).toEqual([groups[1]]);
  });

  it("does not take the sign of actions for text", () => {
    expect(isActionSearch(">age")).toBe(true);
    expect(filterPalette("> age", groups, [])[0]?.actions[0]?.label).toBe("Agents");
  });
});
