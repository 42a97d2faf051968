import { expect, test } from "vitest";
import { groupNotificationTypes } from "./preference_groups";

test("types are grouped by what they ask, and unknown ones come last", () => {
  expect(groupNotificationTypes(["deploys", "workflow_failed", "approval_requested", "alpha"])).toEqual([
    { group: "needs", types: ["approval_requested"] },
    { group: "wrong", types: ["workflow_failed"] },
    { group: "own", types: ["alpha", "deploys"] },
  ]);
});
