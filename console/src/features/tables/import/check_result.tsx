import Check from "icon:check";
import { locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { SheetSection } from "../../../shared/patterns/sheet";
import { translateProblem } from "../../../shared/refusals/refusals";
import type { DataTable, TableImport } from "../queries";
import en from "../words.en.json";
import style from "./import.module.css";

const say = createTranslator(en, "features/tables");
type ResultProps = { run: TableImport | undefined; isBusy: boolean; isMapped: boolean; table: DataTable };

/** What an import would do: checked against every row of the file, before anything is stored. */
export function CheckResult({ run, isBusy, isMapped, table }: ResultProps) {
  const note = run && !isBusy ? say("checkedAll", { count: run.rows_read }) : say("checking");
  return (
    <SheetSection title={say("outcome")} note={isMapped ? note : undefined}>
      {!isMapped && <Note tone="warn">{say("nothingMapped")}</Note>}
      {run?.error && (
        <Note tone="bad">
          {String(run.error.message ?? "")} {run.status === "failed" && say("nothingStored")}
        </Note>
      )}
      {run && !run.error && isMapped && <CheckCounts run={run} table={table} />}
      {run && run.problems.length > 0 && <ProblemTable run={run} />}
    </SheetSection>
  );
}

function CheckCounts({ run, table }: { run: TableImport; table: DataTable }) {
  const replaced = run.mode === "replace" && table.row_count > 0 && ` ${say("replaces", { count: table.row_count })}`;
  if (!run.rows_failed)
    return (
      <Note tone="ok" icon={<Check size={15} />}>
        {say("allTaken", { added: run.rows_created, changed: run.rows_updated })}
        {replaced}
      </Note>
    );
  const kinds = run.problem_counts.map(
    ({ column, message, rows }) => `${rows.toLocaleString(locale)} × ${column} ${translateProblem(message)}`,
  );
  return (
    <Note tone="warn">
      {say("someLeftOut", { count: run.rows_failed })} {kinds.join("; ")}. {say("skippedAndListed")}
      {replaced}
    </Note>
  );
}

const ProblemTable = ({ run }: { run: TableImport }) => (
  <div className="card scroll-x">
    <table className="table boxed">
      <caption className="sr">{say("problems")}</caption>
      <thead>
        <tr>
          <th className={`num ${style.line}`}>{say("line")}</th>
          <th>{say("column")}</th>
          <th>{say("problem")}</th>
        </tr>
      </thead>
      <tbody>
        {run.problems.map(({ line, row, column, message }) => (
          <tr key={`${row} ${column}`}>
            <td className="num t-2">{(line ?? row).toLocaleString(locale)}</td>
            <td className="mono t-12">{column}</td>
            <td>{translateProblem(message)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
