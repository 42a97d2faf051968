import { describe, expect, it } from "vitest";
import type { TableColumn } from "../queries";
import { guessMapping, toColumnMapping } from "./guess_mapping";

const column = (name: string, type: TableColumn["type"]): TableColumn => ({
  id: name,
  name,
  type,
  required: false,
  unique: false,
  indexed: false,
  default: null as never,
  options: [],
  table_id: null,
  position: 0,
});
const TARGETS = [
  column("order", "text"),
  column("customer", "email"),
  column("came_in", "date"),
  column("note", "text"),
];

describe("the guess which column goes where", () => {
  const guesses = guessMapping(
    { columns: ["Order No.", "Mail", "Came-In", "Clerk"], rows: [["1", "a@b.example", "2026-01-01", "IN"]] },
    TARGETS,
  );

  it("goes by name, by a part of it, and by the values", () =>
    expect(toColumnMapping(guesses)).toEqual({ "Order No.": "order", Mail: "customer", "Came-In": "came_in" }));

  it("says which ones are only guessed", () =>
    expect(guesses.map(({ isGuessed }) => isGuessed)).toEqual([true, true, false, false]));

  it("gives no column twice", () =>
    expect(toColumnMapping(guessMapping({ columns: ["note", "Note", "a note"], rows: [] }, TARGETS))).toEqual({
      note: "note",
    }));
});
