import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import { isNumericColumn } from "../column_type";
import { type RowsAsked, sumsQuery, type TableColumn } from "../queries";
import en from "../words.en.json";
import style from "./grid.module.css";

const say = createTranslator(en, "features/tables");
const MAX_METRICS = 20;
const metricOf = ({ type, name }: TableColumn) =>
  isNumericColumn(type) ? `sum:${name}` : type === "select" ? `distinct:${name}` : undefined;

type SumsProps = { tableId: string; columns: readonly TableColumn[]; asked: RowsAsked; rowIndex: number };

/** The foot of a grid: sums of numbers, and how many kinds a choice has, over all rows that match. */
export const GridColumnSums = memo(function GridColumnSums({ tableId, columns, asked, rowIndex }: SumsProps) {
  const metrics = columns.flatMap((column) => metricOf(column) ?? []).slice(0, MAX_METRICS);
  const { data: sums } = useQuery({
    ...sumsQuery(tableId, metrics.join(","), { search: asked.search, filter: asked.filter }),
    enabled: metrics.length > 0,
  });
  return (
    <div className={style.sums} role="row" aria-rowindex={rowIndex}>
      <div className={`${style.sum} ${style.first}`} role="rowheader" aria-colindex={1} aria-label={say("sums")} />
      {columns.map((column, at) => (
        <div
          key={column.id}
          className={`${style.sum} ${isNumericColumn(column.type) ? style.end : ""}`}
          role="gridcell"
          aria-colindex={at + 2}
        >
          {renderSum(column, sums?.[metricOf(column) ?? ""])}
        </div>
      ))}
    </div>
  );
});

function renderSum(column: TableColumn, value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (column.type === "select") return say("kinds", { count: Number(value) });
  return `Σ ${Number(value).toLocaleString(locale, { maximumFractionDigits: 2 })}`;
}
