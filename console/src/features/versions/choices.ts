import type { Rating } from "../../shared/chat/chat";

/** The place of the better column, or none of them. */
export type Choice = number | "same";

/** What can be said about so many columns, in the order of the keys: left, same, right; or each column, then same. */
export const choicesOf = (count: number): Choice[] =>
  count === 2 ? [0, "same", 1] : [...Array.from({ length: count }, (_, i) => i), "same"];

/** The better reply is rated up and the others down; if they are the same, earlier ratings are taken back. */
export const ratingsOf = (choice: Choice, count: number): Rating[] =>
  Array.from({ length: count }, (_, i) => (choice === "same" ? "none" : i === choice ? "positive" : "negative"));
