import { locale } from "../../../shared/i18n/language";
import { padTwoDigits, writeLocalDay } from "../../../shared/local_day";
import { readNumberText, writeNumberText } from "../../../shared/number_text";
import { formatDay, formatExactTime } from "../../../shared/time";
import type { CellValue, ColumnTypeName, TableColumn } from "../queries";

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 10 });
const YES = ["true", "yes", "ja", "1", "x", "✓"];
const NO = ["false", "no", "nein", "0"];
const LIST_MARK = /\s*;\s*/;

/** A value as it is read in a cell. Days have no zone: 14 March is 14 March everywhere. */
export function renderCellText(value: CellValue, type: ColumnTypeName): string {
  if (value === null || value === undefined) return "";
  if (type === "number" || type === "integer") return numbers.format(Number(value));
  if (type === "date") return formatDay(`${String(value)}T12:00:00`);
  if (type === "datetime") return formatExactTime(String(value));
  if (Array.isArray(value) && type === "multi_select") return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A value as it is typed and copied, so that it can be pasted again. */
export function renderPlainText(value: CellValue, type: ColumnTypeName): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && type === "multi_select") return value.join("; ");
  if (type === "datetime") return writeLocalTime(String(value));
  if (typeof value === "number" && type !== "json") return writeNumberText(value);
  return typeof value === "object" || type === "json" ? JSON.stringify(value) : String(value);
}

/** A moment as it is typed: the time of this place, to the second only where it has seconds. */
function writeLocalTime(value: string): string {
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return value;
  const [seconds, ms] = [at.getSeconds(), at.getMilliseconds()];
  const rest = ms
    ? `:${padTwoDigits(seconds)}.${String(ms).padStart(3, "0")}`
    : seconds
      ? `:${padTwoDigits(seconds)}`
      : "";
  return `${writeLocalDay(at)} ${padTwoDigits(at.getHours())}:${padTwoDigits(at.getMinutes())}${rest}`;
}

const LOCAL_TIME = /^(\d{4})-?(\d\d)-?(\d\d)(?:[ T](\d\d)(?::?(\d\d)(?::?(\d\d(?:[.,]\d+)?))?)?)?$/;

/** A typed moment without a zone is one of this place; the server would take it for UTC. */
function readLocalTime(text: string): string {
  const [found, year, month, date, hour = "00", minute = "00", second = "00"] = LOCAL_TIME.exec(text) ?? [];
  if (!found) return text;
  const day = `${year}-${month}-${date}`;
  const at = new Date(`${day}T${hour}:${minute}:${second.replace(",", ".")}`);
  // A day that is not there would become one of the next month.
  return Number.isNaN(at.getTime()) || !writeLocalTime(at.toISOString()).startsWith(day) ? text : at.toISOString();
}

function parseJson(text: string): CellValue {
  try {
    return JSON.parse(text) as CellValue;
  } catch {
    return text;
  }
}

/** What is sent for a text. What cannot be understood is sent as it is: the server says what is wrong with it. */
export function parseCellText(text: string, column: Pick<TableColumn, "type">): CellValue {
  const plain = text.trim();
  if (!plain) return null;
  switch (column.type) {
    case "number":
    case "integer":
      return readNumberText(plain) ?? plain;
    case "boolean":
      if (YES.includes(plain.toLowerCase())) return true;
      return NO.includes(plain.toLowerCase()) ? false : plain;
    case "multi_select":
      return plain.split(LIST_MARK).filter(Boolean);
    case "datetime":
      return readLocalTime(plain);
    case "json":
      return parseJson(plain);
    case "text":
      return text;
    default:
      return plain;
  }
}

const needsQuotes = /["\t\n\r]/;
const quoteCell = (text: string) => (needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Cells as spreadsheets put them on the clipboard: tabs between columns, a line for each row. */
export const formatTabbedText = (rows: readonly (readonly string[])[]) =>
  rows.map((cells) => cells.map(quoteCell).join("\t")).join("\n");

/** Cells from the clipboard. A quoted cell may hold tabs and line ends. */
export function parseTabbedText(text: string): string[][] {
  const rows: string[][] = [];
  let cells: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"(?=[\t\r\n]|$)|([^\t\r\n]*))(\t|\r\n|\n|\r|$)/g;
  for (const [whole, quoted, plain, end] of text.matchAll(pattern)) {
    if (!whole && !cells.length) break;
    cells.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end === "\t") continue;
    rows.push(cells);
    cells = [];
    if (!end) break;
  }
  return rows;
}
