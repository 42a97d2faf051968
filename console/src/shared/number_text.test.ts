import { describe, expect, it } from "vitest";
import { findNumberSeparators } from "./i18n/language";
import { formatEveryDigit, readNumberText, writeNumberText } from "./number_text";

const german = findNumberSeparators("de");
const english = findNumberSeparators("en-GB");

describe("a number in a text", () => {
  it.each([
    ["1.000", 1000],
    ["1.234,56", 1234.56],
    ["-1.234.567", -1_234_567],
    ["1,5", 1.5],
    ["1.5", 1.5],
    ["0.125", 0.125],
    ["1234.50", 1234.5],
    ["150,5", 150.5],
    [",5", 0.5],
    ["1,5e3", 1500],
    ["1.5e3", 1500],
    [" 7 ", 7],
    ["−3", -3],
    ["1234.567", undefined],
    ["1.00,5", undefined],
    ["1,234.56", undefined],
    ["1.2.3", undefined],
    ["1,000,000", undefined],
    ["", undefined],
    ["much", undefined],
    ["1e999", undefined],
    ["0x10", undefined],
  ])("is read as in German: %s", (text, number) => expect(readNumberText(text, german)).toBe(number));

  it.each([
    ["1,000", 1000],
    ["1,234.56", 1234.56],
    ["1.000", 1],
    ["150.5", 150.5],
    [".5", 0.5],
    ["1e3", 1000],
    ["1,5", undefined],
    ["1.234,56", undefined],
    ["12,34", undefined],
    ["0,125", undefined],
  ])("is read as in English: %s", (text, number) => expect(readNumberText(text, english)).toBe(number));

  it.each([1, -0.5, 1234.567, 1.234, 0.001, 1e21, 1.5e-7])("comes back as it was written: %s", (number) => {
    expect(readNumberText(writeNumberText(number, german), german)).toBe(number);
    expect(readNumberText(writeNumberText(number, english), english)).toBe(number);
    expect(readNumberText(formatEveryDigit(number, "de"), german)).toBe(number);
  });

  it("is shown with its groups and all its digits", () => {
    expect(formatEveryDigit(1234.5678, "de")).toBe("1.234,5678");
    expect(formatEveryDigit(1234.5678, "en-GB")).toBe("1,234.5678");
  });
});
