import { expect, it } from "vitest";
import { describeSetting, settingNameOf } from "./setting_words";

it.each([
  [{ name: "sign_up", value: "pending" }, "Everybody, once an administrator approves"],
  [{ name: "sends_mail", value: false }, "No: mails become files on the server"],
  [{ name: "stores_traces", value: true }, "Yes"],
  [{ name: "trace_retention_days", value: 1 }, "1 day"],
  [{ name: "trace_retention_days", value: 14 }, "14 days"],
  [{ name: "base_url", value: null }, "Not set"],
  [{ name: "plan", value: "team" }, "Team"],
  [{ name: "newer", value: "as it is" }, "as it is"],
])("says %o in words", (setting, text) => expect(describeSetting(setting)).toBe(text));

it("names a newer setting by itself", () => {
  expect(settingNameOf("sign_up")).toBe("Sign-up");
  expect(settingNameOf("newer")).toBe("newer");
});
