import { describe, expect, it } from "vitest";
import { formatTabbedText, parseCellText, parseTabbedText, renderPlainText } from "./cell_text";

describe("cells on the clipboard", () => {
  it.each([
    [
      [
        ["a", "b"],
        ["c", ""],
      ],
    ],
    [
      [
        ["1\t2", "two\nlines"],
        ['say "hi"', "x"],
      ],
    ],
    [[["only"]]],
    [
      [
        ["", ""],
        ["", "z"],
      ],
    ],
  ])("come back as they went: %j", (rows) => expect(parseTabbedText(formatTabbedText(rows))).toEqual(rows));

  it("ends a file's last line without an empty row", () =>
    expect(parseTabbedText("a\tb\r\nc\td\r\n")).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]));
});

describe("a moment", () => {
  const at = (text: string) => parseCellText(text, { type: "datetime" });
  it("without a zone is one of this place", () => {
    const local = new Date(2026, 2, 14, 9, 30).toISOString();
    expect([at("2026-03-14 09:30"), at("2026-03-14T09:30:00"), at("20260314T0930")]).toEqual([local, local, local]);
    expect(at("2026-03-14")).toBe(new Date(2026, 2, 14).toISOString());
  });
  it("with a zone, or that is none, is sent as it is", () => {
    for (const text of ["2026-03-14T09:30:00Z", "2026-03-14T09:30+02:00", "2026-02-31 10:00", "soon"])
      expect(at(text)).toBe(text);
  });
  it.each([
    [new Date(2026, 2, 14, 9, 30), "2026-03-14 09:30"],
    [new Date(2026, 2, 14, 9, 30, 5), "2026-03-14 09:30:05"],
    [new Date(2026, 2, 14, 9, 30, 5, 40), "2026-03-14 09:30:05.040"],
  ])("is edited as it stands in this place: %s", (moment, text) => {
    expect(renderPlainText(moment.toISOString(), "datetime")).toBe(text);
    expect(at(text)).toBe(moment.toISOString());
  });
});

describe("the text of a cell", () => {
  it.each([
    ["number", "4.5", 4.5],
    ["number", "4,5x", "4,5x"],
    ["number", "1,000", 1000],
    ["number", "1.234,5", "1.234,5"],
    ["integer", "", null],
    ["boolean", "yes", true],
    ["boolean", "nein", false],
    ["boolean", "maybe", "maybe"],
    ["multi_select", "a; b;c", ["a", "b", "c"]],
    ["json", '{"a":1}', { a: 1 }],
    ["json", "{", "{"],
    ["text", " kept ", " kept "],
    ["email", " ada@example.com ", "ada@example.com"],
  ] as const)("of a %s is sent as it is meant: %s", (type, text, value) =>
    expect(parseCellText(text, { type })).toEqual(value),
  );

  it.each([
    ["multi_select", ["a", "b"]],
    ["json", { a: [1] }],
    ["number", -2.5],
    ["boolean", true],
    ["date", "2026-03-14"],
  ] as const)("of a %s is understood when it is typed again", (type, value) =>
    expect(parseCellText(renderPlainText(value, type), { type })).toEqual(value),
  );
});
