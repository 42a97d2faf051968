import { locale } from "./i18n/language";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** A size in the largest unit that it fills: "18 bytes", "4.2 kB", "12 MB", "61 GB". */
export function formatBytes(size: number): string {
  const step = Math.min(UNITS.length - 1, size < 1000 ? 0 : size < 1e6 ? 1 : size < 1e9 ? 2 : 3);
  const value = size / 1000 ** step;
  const unit = UNITS[step] ?? "byte";
  const format = new Intl.NumberFormat(locale, {
    style: "unit",
    unit,
    // Only the long form has a plural.
    unitDisplay: step ? "short" : "long",
    maximumFractionDigits: value < 10 && step ? 1 : 0,
  });
  return format.format(value);
}
