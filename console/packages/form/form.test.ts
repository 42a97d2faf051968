// @vitest-environment jsdom
import { formWords } from "@retinue/words/form";
import { afterEach, describe, expect, it, vi } from "vitest";
import { formatChoices } from "./answer_controls";
import { listFieldOptions } from "./choice_fields";
import { createFieldView } from "./field_views";
import { formatFileSize } from "./file_field";
import { findReadableTextColour, parseColourText } from "./form_colours";
import { createResponseError, FormError, formErrorMessage, isOutage } from "./form_error";
import { FormServer } from "./form_server";
import type { FormField } from "./form_types";
import { describePageOrigin, readPageParameter, resolveWebAddress } from "./page_address";
import { UnsentAnswer } from "./tab_storage";

afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
});

describe("an error", () => {
  const refusal = (code: string, more = {}) => ({ error: { code, message: "No.", ...more } });

  it("says when to try again, and hides what is for the form's owner", () => {
    const messages = [
      createResponseError(429, "30", refusal("rate_limited")),
      createResponseError(429, "3600", refusal("rate_limited")),
      createResponseError(429, null, null),
      createResponseError(503, null, refusal("model_timeout")),
      createResponseError(500, null, null),
      createResponseError(404, null, refusal("form_not_found")),
    ].map(({ message }) => message);
    const { tooMany, cannotAnswer, failed } = formWords;
    expect(messages).toEqual([
      ...["Too many requests. Try again in 30 seconds.", tooMany, tooMany, cannotAnswer, failed, "No."],
    ]);
  });

  it("names the fields that were refused", () => {
    const errors = [{ field: "name", message: "is required" }];
    expect(createResponseError(422, null, refusal("invalid", { details: { errors } })).problems).toEqual(errors);
    expect(createResponseError(422, null, refusal("invalid", { details: { errors: "x" } })).problems).toEqual([]);
  });

  it("is an outage if the server may accept the same request later", () => {
    const errors = [0, 404, 429, 500].map((status) => new FormError("", { status }));
    expect(errors.map(isOutage)).toEqual([true, false, false, true]);
    expect(isOutage(new TypeError())).toBe(true);
  });

  it("that is a bug is reported, and told as a failure", () => {
    const report = vi.fn();
    vi.stubGlobal("reportError", report);
    expect(formErrorMessage(new TypeError("x is undefined"))).toBe(formWords.failed);
    expect(report).toHaveBeenCalledOnce();
  });
});

describe("a submission", () => {
  it("keeps its idempotency key until the server responds, and while it is the same", async () => {
    const keys: string[] = [];
    const responses = [() => Promise.reject(new TypeError()), () => Promise.reject(new TypeError()), ok, refuse, ok];
    vi.stubGlobal("fetch", (_: string, { headers }: { headers: Record<string, string> }) => {
      keys.push(headers["Idempotency-Key"] ?? "");
      return responses.shift()?.();
    });
    const server = new FormServer("https://service.example", "a b");
    const send = (name: string) => server.submit({ data: { name } }).catch(() => null);
    await send("Ada");
    await send("Bob");
    await send("Bob");
    await send("Bob");
    await send("Bob");
    const [ada, bob, again, other, last] = keys;
    expect(bob).toBe(again);
    expect(new Set([ada, bob, other, last]).size).toBe(4);
  });

  const ok = async () => new Response('{"data": {}, "message": "Thanks"}');
  const refuse = async () => new Response("{}", { status: 422 });
});

describe("the address of the page", () => {
  it("fills in fields, except by names that mean something else", () => {
    history.replaceState(null, "", "/page?name=Ada&v=1&session=x&empty=&utm_source=spring#part");
    expect(["name", "empty", "none", "v", "session"].map(readPageParameter)).toEqual(["Ada", "", null, null, null]);
    expect(describePageOrigin("page")).toEqual({ source: "spring", page_url: `${location.origin}/page` });
  });

  it("leads to the web alone", () => {
    const base = "https://service.example/below";
    const texts = ["/docs", "logo.png", "https://a.example/x", "javascript:alert(1)", "http://[", "", undefined];
    expect(texts.map((text) => resolveWebAddress(text, base))).toEqual([
      ...["https://service.example/docs", "https://service.example/below/logo.png", "https://a.example/x"],
      ...[null, null, null, null],
    ]);
  });
});

describe("a field", () => {
  const context = { server: new FormServer("", "x"), onChange: () => undefined, headingTag: () => "h2" };
  const view = (field: Partial<FormField>) => createFieldView({ id: "f", type: "text", ...field }, "field-0", context);
  const answer = (field: Partial<FormField>, value: unknown) => {
    const filled = view(field);
    expect(filled.element).toBeInstanceOf(HTMLElement);
    filled.showAnswer(value);
    return [filled.readAnswer(), filled.readComparedValue()];
  };

  it("sends a text as written, and compares it as the server does", () => {
    expect(answer({ type: "text" }, " a ")).toEqual([" a ", " a "]);
    expect(answer({ type: "phone" }, " +44 1 ")).toEqual([" +44 1 ", "+44 1"]);
    expect(answer({ type: "number" }, " 2.50 ")).toEqual([" 2.50 ", 2.5]);
    expect(answer({ type: "number" }, "0x1")).toEqual(["0x1", "0x1"]);
    expect(answer({ type: "textarea" }, "  ")).toEqual([undefined, undefined]);
  });

  it("has no answer before it is touched", () => {
    expect(
      [view({ type: "slider" }), view({ type: "radio", options: [1] })].map((field) => field.readAnswer()),
    ).toEqual([...[undefined, undefined]]);
    expect(answer({ type: "slider", validation: { max: 10 } }, 7)).toEqual(["7", 7]);
  });

  it("sends the values of options as the server has them, and none that is not offered", () => {
    const options = [1, { value: 2, label: "Two" }, "3"];
    expect(answer({ type: "radio", options }, "2")[0]).toBe(2);
    expect(answer({ type: "checkbox_group", options }, ["3", 1, 9])[0]).toEqual(["3", 1]);
    expect(answer({ type: "select", options }, 9)[0]).toBeUndefined();
    expect(answer({ type: "rating", validation: { max: 3 } }, 3)[0]).toBe(3);
    expect(listFieldOptions({ options: [], validation: { options: [null, { value: "x" }] } })).toEqual([
      { value: null, label: "null" },
      { value: "x", label: "x" },
    ]);
  });

  it("shows its problem, and says so to screen readers", () => {
    const required = view({ label: "Name", required: true, help_text: "As on your card." });
    required.markProblem("is required");
    const input = required.element.querySelector("input");
    expect(required.element.textContent).toBe("Name *As on your card.This is required.");
    expect(input?.getAttribute("aria-describedby")).toBe("field-0-help field-0-problem");
    expect(input?.getAttribute("aria-invalid")).toBe("true");
    required.markProblem("");
    expect(input?.hasAttribute("aria-invalid")).toBe(false);
  });
});

describe("a conversation", () => {
  it("sends choices in words, and as JSON where the server would split a label", () => {
    const plain = ["Salt", "Oil"].map((label, value) => ({ value, label }));
    expect(formatChoices(plain)).toEqual({ content: "Salt, Oil", text: "Salt, Oil" });
    const split = [{ value: 1, label: "Salt and pepper" }];
    expect(formatChoices(split)).toEqual({ content: "[1]", text: "Salt and pepper" });
  });

  it("keeps what was not sent for the tab", () => {
    const unsent = new UnsentAnswer("unsent");
    expect(unsent.read()).toEqual({});
    unsent.write({ text: "", unconfirmed: "Ada" });
    expect(new UnsentAnswer("unsent").read()).toEqual({ text: "", unconfirmed: "Ada" });
    unsent.write({ unconfirmed: null });
    expect(sessionStorage.length).toBe(0);
  });
});

it("reads colours, and finds a text that can be read on them", () => {
  expect(["#abc", "#abcd", "#aabbcc", "#aabbccdd"].map(parseColourText)).toEqual(Array(4).fill([170, 187, 204]));
  expect(["red", "#12345", "", null, 7, "#fff;}"].map(parseColourText)).toEqual(Array(6).fill(null));
  expect(
    [
      [255, 255, 255],
      [0, 0, 0],
      [59, 79, 209],
    ].map(findReadableTextColour),
  ).toEqual(["#000", "#fff", "#fff"]);
});

it("formats sizes of files", () => {
  expect([5, 2048, 1_572_864].map(formatFileSize)).toEqual(["5 bytes", "2 KB", "1.5 MB"]);
});
