import { expect, test } from "vitest";
import { createAgentFile } from "./new_agent";
import type { Template } from "./queries";

const TEMPLATE = { description: "Answers", temperature: 0.2, web_search: true } as Template;

test("an agent without a template has the defaults of the server", () => {
  expect(createAgentFile("Clerk", "local/a", "You help.")).toEqual({
    format: "retinue.agent/1",
    agent: {
      name: "Clerk",
      description: "",
      primary_model: "local/a",
      system_prompt: "You help.",
      temperature: 0.7,
      max_tokens: 2048,
    },
  });
});

test("a template brings its description, temperature and search", () => {
  const file = createAgentFile("Clerk", "local/a", "You help.", TEMPLATE);
  expect(file.agent).toMatchObject({ description: "Answers", temperature: 0.2, name: "Clerk" });
  expect(file.agent).not.toHaveProperty("max_tokens");
  expect(file.web_search).toEqual({ enabled: true });
});
