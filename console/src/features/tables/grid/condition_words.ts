import { createTranslator } from "../../../shared/i18n/words";
import type { RowCondition, RowOperator } from "../filters";
import type { ColumnTypeName, TableColumn } from "../queries";
import en from "../words.en.json";
import { renderCellText } from "./cell_text";

const say = createTranslator(en, "features/tables");
const TEXT: RowOperator[] = ["contains", "eq", "ne", "filled", "empty"];
const NUMBER: RowOperator[] = ["gt", "lt", "eq", "ne", "filled", "empty"];
const DATE: RowOperator[] = ["gte", "lt", "eq", "filled", "empty"];
const CHOICE: RowOperator[] = ["eq", "ne", "filled", "empty"];
const ANY: RowOperator[] = ["filled", "empty"];

const OPERATORS: Record<ColumnTypeName, RowOperator[]> = {
  text: TEXT,
  email: TEXT,
  url: TEXT,
  number: NUMBER,
  integer: NUMBER,
  date: DATE,
  datetime: DATE,
  boolean: CHOICE,
  select: CHOICE,
  multi_select: ["contains", "filled", "empty"],
  json: ANY,
  file: ANY,
  reference: CHOICE,
};
/** How a column can be compared, the likeliest first. */
export const listOperators = (type: ColumnTypeName) => OPERATORS[type];
export const needsComparedValue = (operator: RowOperator) => operator !== "filled" && operator !== "empty";

const isDay = (type?: ColumnTypeName) => type === "date" || type === "datetime";

export function operatorName(operator: RowOperator, type?: ColumnTypeName): string {
  if (operator === "gte" && isDay(type)) return say("op_since");
  if (operator === "lt" && isDay(type)) return say("op_before");
  return say(`op_${operator}`);
}

/** A condition as the end of a sentence that begins with its column: "above 50". */
export function describeCondition({ operator, value }: RowCondition, column: TableColumn | undefined): string {
  const name = operatorName(operator, column?.type);
  if (!needsComparedValue(operator)) return name;
  const text =
    typeof value === "boolean"
      ? say(value ? "yes" : "no")
      : column
        ? renderCellText(value, column.type)
        : String(value);
  return operator === "eq" ? text : `${name} ${text}`;
}
