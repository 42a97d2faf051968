import { expect, it } from "vitest";
import { ApiError } from "../../api/errors";
import { inviteEach, splitAddresses } from "./invitations";

it("reads addresses however they are separated, each once", () => {
  expect(splitAddresses(" a@x.example, b@x.example;c@x.example\nA@x.example\na@x.example ,, ")).toEqual([
    "a@x.example",
    "b@x.example",
    "c@x.example",
    "A@x.example",
  ]);
  expect(splitAddresses("\n ")).toEqual([]);
});

it("invites the others when one is refused", async () => {
  const answer = await inviteEach(["a", "b", "c"], async (email) => {
    if (email === "b") throw new ApiError(409, "email_taken", "Taken.");
    return { email, invite_url: `link-${email}` };
  });
  expect(answer.invited.map(({ invite_url }) => invite_url)).toEqual(["link-a", "link-c"]);
  expect(answer.refused).toEqual([{ email: "b", problem: "Taken." }]);
});
