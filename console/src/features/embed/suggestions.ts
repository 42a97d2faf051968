// As the API limits them.
export const MAX_SUGGESTIONS = 4;
export const MAX_SUGGESTION_LENGTH = 80;

export type SuggestionProblem =
  | { kind: "tooMany"; count: number }
  | { kind: "tooLong"; number: number; length: number };

/** The questions of a text with one on each line. Nothing is cut: what is too much is for its writer to shorten. */
export const parseSuggestions = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** What keeps these questions from being saved. */
export function findSuggestionProblem(suggestions: string[]): SuggestionProblem | undefined {
  if (suggestions.length > MAX_SUGGESTIONS) return { kind: "tooMany", count: suggestions.length };
  // Characters as the API counts them, so that an emoji is one.
  const lengths = suggestions.map((text) => [...text].length);
  const at = lengths.findIndex((length) => length > MAX_SUGGESTION_LENGTH);
  return at < 0 ? undefined : { kind: "tooLong", number: at + 1, length: lengths[at] ?? 0 };
}
