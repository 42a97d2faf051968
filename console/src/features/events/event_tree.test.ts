import { expect, it } from "vitest";
import { growEventTree } from "./event_tree";
import type { LoggedEvent } from "./queries";

const event = (second: number, source: string, data: object = {}) =>
  ({
    id: `evt_${second}`,
    created_at: new Date(Date.UTC(2026, 10, 18, 9, 0, second)).toISOString(),
    source: { type: "x", id: source },
    data,
  }) as unknown as LoggedEvent;

it("puts what names an earlier object below it, and the events of one object side by side", () => {
  const tree = growEventTree([
    event(0, "sbm_1", { form_id: "frm_1" }),
    event(1, "wfx_1", { trigger: { submission_id: "sbm_1" } }),
    event(2, "tex_1", { workflow_execution_id: "wfx_1" }),
    event(3, "wfx_1", { submission_id: "sbm_1", workflow_execution_id: "wfx_1" }),
    event(4, ""),
  ]);
  expect(tree.map(({ depth, afterMs }) => [depth, afterMs])).toEqual([
    [0, 0],
    [1, 1000],
    [2, 2000],
    [1, 3000],
    [1, 4000],
  ]);
  expect(growEventTree([])).toEqual([]);
});
