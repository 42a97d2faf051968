import type { KeyboardEvent } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import type { TableColumn, TableRow } from "../queries";
import en from "../words.en.json";
import style from "./grid.module.css";

const say = createTranslator(en, "features/tables");
const PROBLEM_ID = "cell-problem";

/** What is typed, and the row as it was when its field was opened: rows move while somebody types. */
export type CellEdit = {
  row: TableRow;
  column: TableColumn;
  before: string;
  text: string;
  problem?: string;
  hint?: string;
};
type EditorProps = {
  edit: CellEdit;
  rowNumber: number;
  onText: (text: string) => void;
  /** Keep the text and go down, to the next cell or nowhere. */
  onDone: (leadsTo: "down" | "next" | "previous" | "stay") => void;
  onCancel: () => void;
};

/** The field in a cell. A value that the server refuses stays in it, with what is wrong below. */
export function CellEditor({ edit, rowNumber, onText, onDone, onCancel }: EditorProps) {
  const { column } = edit;
  const problem = edit.problem ?? edit.hint;
  const handleKey = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter") onDone("down");
    else if (event.key === "Tab") onDone(event.shiftKey ? "previous" : "next");
    else return;
    event.preventDefault();
  };
  const field = {
    autoFocus: true,
    "aria-label": say("cellOf", { column: column.name, row: rowNumber }),
    "aria-invalid": edit.problem ? true : undefined,
    "aria-describedby": problem ? PROBLEM_ID : undefined,
    value: edit.text,
    onKeyDown: handleKey,
    onBlur: () => onDone("stay"),
  };
  return (
    <>
      {column.type === "select" ? (
        <select {...field} onChange={(event) => onText(event.currentTarget.value)}>
          <option value="">–</option>
          {column.options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : (
        <input
          {...field}
          type={column.type === "date" ? "date" : "text"}
          inputMode={column.type === "number" || column.type === "integer" ? "decimal" : undefined}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      )}
      {problem && (
        <span id={PROBLEM_ID} role="alert" className={style.tip}>
          {problem} · {say("escKeeps")}
        </span>
      )}
    </>
  );
}
