import { findNumberSeparators, locale } from "./i18n/language";

type NumberSeparators = ReturnType<typeof findNumberSeparators>;

const ownSeparators = findNumberSeparators(locale);
const MACHINE_POINT = ".";
const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const toMachineNumber = (text: string) => {
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
};

/**
 * The number that a typed text means where numbers are written with these separators. A text that could mean
 * two numbers is none: where the comma is the decimal mark, "1234.567" may have lost a group or be a program's.
 */
export function readNumberText(text: string, { thousands, decimal }: NumberSeparators = ownSeparators) {
  const plain = text.trim().replace(/^−/, "-");
  const [group, mark] = [escapePattern(thousands), escapePattern(decimal)];
  const grouped = new RegExp(`^[-+]?[1-9]\\d{0,2}(?:${group}\\d{3})+(?:${mark}\\d+)?$`);
  const ungrouped = new RegExp(`^[-+]?(?:\\d+(?:${mark}\\d+)?|${mark}\\d+)(?:[eE][-+]?\\d+)?$`);
  if (grouped.test(plain)) return toMachineNumber(plain.replaceAll(thousands, "").replace(decimal, MACHINE_POINT));
  if (ungrouped.test(plain)) return toMachineNumber(plain.replace(decimal, MACHINE_POINT));
  // A program's number: three digits after the point could be a group, unless zero or nothing stands before it.
  const isMachine = /^[-+]?(?:0*\.\d+|\d+\.(?!\d{3}$)\d+|\d+\.\d+[eE][-+]?\d+)$/.test(plain);
  return isMachine && thousands === MACHINE_POINT ? toMachineNumber(plain) : undefined;
}

/** A number as it is typed, without groups, so that reading it again gives the same. */
export const writeNumberText = (number: number, { decimal }: NumberSeparators = ownSeparators) =>
  String(number).replace(MACHINE_POINT, decimal);

/** A number as it is read, with all its digits: "1,234.5". */
export function formatEveryDigit(number: number, place: string = locale) {
  const text = String(number);
  if (text.includes("e")) return writeNumberText(number, findNumberSeparators(place));
  const digits = text.split(MACHINE_POINT)[1]?.length ?? 0;
  return number.toLocaleString(place, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
