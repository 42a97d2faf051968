import { expect, it } from "vitest";
import { describeActorKind, describeMetadata, findSubjectName, listMentionedIds, readEntryActor } from "./entry_words";

it("puts what was before beside what is now", () =>
  expect(
    describeMetadata({
      subject_id: "usr_1",
      metadata: { user_id: "usr_1", role: "viewer", previous_role: "agent_user" },
    }),
  ).toEqual({ changes: [{ field: "Role", before: "agent_user", after: "viewer" }], facts: [] }));

it("keeps what was before without anything that replaced it", () =>
  expect(describeMetadata({ subject_id: "sec_1", metadata: { secret_id: "sec_1", previous_until: "soon" } })).toEqual({
    changes: [],
    facts: [["Previous one works until", "soon"]],
  }));

it("tells the rest as facts and leaves out what is empty", () =>
  expect(
    describeMetadata({
      subject_id: "agt_1",
      metadata: {
        agent_id: "agt_1",
        name: "Desk",
        version: 3,
        changes: [],
        changed: ["name", "tools"],
        odd_field: true,
      },
    }).facts,
  ).toEqual([
    ["Name", "Desk"],
    ["Version", "3"],
    ["Changed", "name, tools"],
    ["odd field", "on"],
  ]));

it("names the people of an approval, and says what its decider changed", () => {
  const metadata = {
    requested_by: { type: "user", id: "usr_ada" },
    resolved_by: "usr_bo",
    source: { type: "tool", tool_id: "tool_1" },
    edited_fields: ["amount"],
  };
  const names: Record<string, string> = { usr_ada: "Ada", usr_bo: "Bo" };
  expect(listMentionedIds({ metadata })).toEqual(["usr_ada", "usr_bo"]);
  expect(describeMetadata({ subject_id: "apv_1", metadata }, (id) => names[id]).facts).toEqual([
    ["Asked by", "Ada"],
    ["Decided by", "Bo"],
    ["Source", "A tool"],
    ["Changed by the decider", "amount"],
  ]);
});

it("finds what the object was called", () => {
  expect(findSubjectName({ metadata: { credential_name: "CRM" } })).toBe("CRM");
  expect(findSubjectName({ metadata: { version: 1 } })).toBeUndefined();
});

it("names who acted without an account", () => {
  expect(readEntryActor({ actor: { type: "user", id: "usr_1" } })).toEqual({ type: "user", id: "usr_1" });
  expect(readEntryActor({ actor: {} })).toEqual({ type: "", id: "" });
  expect(describeActorKind("system")).toBe("Retinue itself");
  expect(describeActorKind("newer")).toBe("newer");
});
