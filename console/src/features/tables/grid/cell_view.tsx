import Check from "icon:check";
import FileImage from "icon:file-image";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import type { CellValue, TableColumn } from "../queries";
import en from "../words.en.json";
import { renderCellText } from "./cell_text";
import style from "./grid.module.css";
import { hueOfOption } from "./option_hue";

const say = createTranslator(en, "features/tables");
type CellProps = { column: TableColumn; value: CellValue };

/** What a cell shows, by the type of its column. */
export const CellValueView = memo(function CellValueView({ column, value }: CellProps) {
  if (value === null || value === undefined) return null;
  const text = renderCellText(value, column.type);
  switch (column.type) {
    case "boolean":
      return value ? <Check size={14} aria-label={say("yes")} role="img" /> : <span className="t-3">{say("no")}</span>;
    case "select":
      return <span className={`pill ${hueOfOption(column.options, text)}`}>{text}</span>;
    case "multi_select":
      return (
        <>
          {(Array.isArray(value) ? value : []).map((one) => (
            <span key={String(one)} className="pill">
              {String(one)}
            </span>
          ))}
        </>
      );
    case "url":
      return (
        <a href={text} target="_blank" rel="noreferrer" tabIndex={-1} className={style.link}>
          {text.replace(/^https?:\/\//, "")}
        </a>
      );
    case "reference":
      return <ReferenceCell column={column} text={text} />;
    case "file":
      return (
        <span className="pill">
          <FileImage size={12} /> {text.slice(0, 12)}…
        </span>
      );
    case "json":
      return <span className="mono t-12 t-2">{text}</span>;
    default:
      return <span>{text}</span>;
  }
});

const ReferenceCell = ({ column, text }: { column: TableColumn; text: string }) =>
  column.table_id ? (
    <Link
      to="/tables/$tableId"
      params={{ tableId: column.table_id }}
      tabIndex={-1}
      className={`${style.link} mono t-12`}
      title={text}
    >
      {text.slice(0, 4)}…{text.slice(-6)}
    </Link>
  ) : (
    <span className="mono t-12">{text}</span>
  );
