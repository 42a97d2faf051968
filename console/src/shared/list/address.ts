/** What the part of an address behind the question mark says; anybody may have written it. */
export type ListAddress = Record<string, unknown>;
type FieldReaders<Filters> = { [Name in keyof Filters]-?: (value: unknown) => Filters[Name] | undefined };

/** Whole numbers of the server end below it. */
const MAX_WHOLE_NUMBER = 2 ** 31;
const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * Make a function that reads filters from an address. What does not belong there has no value but its key: the
 * router adds the result to what the address says, so that a field without a key would be shown as it was written.
 */
export function createAddressReader<Filters extends object>(readers: FieldReaders<Filters>) {
  const fields = Object.entries(readers) as [string, (value: unknown) => unknown][];
  return (address: ListAddress): Filters =>
    Object.fromEntries(fields.map(([name, read]) => [name, read(address[name])])) as Filters;
}

/** Text that may be cut: ids and the like. */
export const readTextUpTo =
  (maxLength?: number) =>
  (value: unknown): string | undefined =>
    typeof value === "string" ? value.slice(0, maxLength) || undefined : undefined;
export const readText = readTextUpTo();

/** What somebody wrote. Digits come as a number, and are a text all the same. */
export const readAnyTextUpTo =
  (maxLength?: number) =>
  (value: unknown): string | undefined =>
    String(value ?? "").slice(0, maxLength) || undefined;

/** One of these values. That which counts without any is left out of the address. */
export const readOneOf =
  <Value extends string, Usual extends Value = never>(values: readonly Value[], usual?: Usual) =>
  (value: unknown): Exclude<Value, Usual> | undefined =>
    values.find((known): known is Exclude<Value, Usual> => known === value && known !== usual);

export const readTrueFlag = (value: unknown): true | undefined => value === true || undefined;

export const readWholeNumberFrom =
  (least: number) =>
  (value: unknown): number | undefined => {
    const number = Number(value);
    return Number.isInteger(number) && number >= least && number < MAX_WHOLE_NUMBER ? number : undefined;
  };
/** The first page needs no number. */
export const readPageNumber = readWholeNumberFrom(2);

/** A day such as 2026-11-18. */
export const readCalendarDay = (value: unknown): string | undefined =>
  typeof value === "string" && DAY.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
