import { expect, it } from "vitest";
import { writeCurlCommand } from "./curl_command";

it("writes a request that a shell reads as it is meant", () => {
  const headers = { "Content-Type": "application/json", "webhook-signature": "***", "X-Team": "it's" };
  expect(writeCurlCommand({ url: "https://example.com/a?b=1&c", headers, body: `{"a":"$(x) 'y'"}` })).toBe(
    [
      "curl -X POST 'https://example.com/a?b=1&c'",
      "-H 'Content-Type: application/json'",
      `-H 'X-Team: it'\\''s'`,
      `--data-binary '{"a":"$(x) '\\''y'\\''"}'`,
    ].join(" \\\n  "),
  );
});
