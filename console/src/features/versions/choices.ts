import type { Rating } from "../../shared/chat/chat";

/** The place of the better column, or none of them. */
export type ColumnChoice = number | "same";

/** The verdicts for a number of columns, in the order of their keys: left, same, right; or each column, then same. */
export const listColumnChoices = (count: number): ColumnChoice[] =>
  count === 2 ? [0, "same", 1] : [...Array.from({ length: count }, (_, i) => i), "same"];

/** The better reply is rated up and the others down; if they are the same, earlier ratings are taken back. */
export const ratingsForChoice = (choice: ColumnChoice, count: number): Rating[] =>
  Array.from({ length: count }, (_, i) => (choice === "same" ? "none" : i === choice ? "positive" : "negative"));
