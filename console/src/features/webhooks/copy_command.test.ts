// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { dismissToast, readShownToasts } from "../../shared/toast/toasts";
import { copyCommand } from "./copy_command";

afterEach(() => {
  readShownToasts().forEach(dismissToast);
  vi.unstubAllGlobals();
});

it.each([
  ["takes it", { writeText: () => Promise.resolve() }, "Copied."],
  ["refuses", { writeText: () => Promise.reject(new Error("denied")) }, "It could not be copied: the browser refused."],
  ["is missing", undefined, "It could not be copied: the browser refused."],
])("says what came of copying where the clipboard %s", async (_, clipboard, said) => {
  vi.stubGlobal("navigator", { clipboard });
  await copyCommand("curl", "Copied.");
  expect(readShownToasts().map(({ text }) => text)).toEqual([said]);
});
