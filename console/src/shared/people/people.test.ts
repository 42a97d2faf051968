import { expect, it } from "vitest";
import { deviceNameOf } from "./browser";
import { ROLES } from "./role_keys";
import { roleNameOf } from "./roles";

it.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
    "Safari on macOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0 Mobile/15E148 Safari/604.1",
    "Chrome on iPhone",
  ],
  [
    "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
    "Chrome on Android",
  ],
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36",
    "Chrome on Linux",
  ],
  ["curl/8.9.1", "curl (program)"],
  ["python-requests/2.32.3", "Python (program)"],
  ["", "Unknown device"],
  [null, "Unknown device"],
])("names the device of %j", (userAgent, name) => expect(deviceNameOf(userAgent)).toBe(name));

it("has a word for every role, and none for what is newer", () => {
  for (const role of ROLES) expect(roleNameOf(role)).not.toMatch(/_/);
  expect(roleNameOf("auditor")).toBe("auditor");
});
