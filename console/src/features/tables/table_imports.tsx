import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { ListRows } from "../../shared/list/list_rows";
import { RowTable } from "../../shared/list/row_table";
import { StatusLabel, type Tone } from "../../shared/marks/status";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { EmptyState } from "../../shared/states/empty";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { cancelImport } from "./import/runs";
import { isImportUnfinished, type TableImport, tableImportsQuery, useTableChange } from "./queries";
import { TablePage } from "./table_page";
import style from "./tables.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/tables");
const TONES: Record<TableImport["status"], Tone> = {
  pending: "idle",
  running: "run",
  completed: "ok",
  failed: "bad",
  cancelled: "idle",
};

/** What was imported into the table, and what did not go in. */
export default function TableImportsPage() {
  const { tableId } = useParams({ from: "/frame/tables/$tableId/imports" });
  const mayWrite = usePermissionCheck()("data_tables:write");
  const start = mayWrite && (
    <Button renderRoot={(props) => <Link {...props} to="/tables/$tableId/import" params={{ tableId }} />}>
      {say("import")}
    </Button>
  );
  return (
    <TablePage tableId={tableId} tab="imports" actions={() => start}>
      {() => <ImportList tableId={tableId} mayWrite={mayWrite} />}
    </TablePage>
  );
}

function ImportList({ tableId, mayWrite }: { tableId: string; mayWrite: boolean }) {
  const list = useQuery(tableImportsQuery(tableId));
  const cancel = useTableChange((id: string) => cancelImport(tableId, id));
  return (
    <ListRows
      list={list}
      rows={list.data?.data}
      columns={[200, 120, 90]}
      none={<EmptyState title={say("noImportsTitle")}>{say("noImports")}</EmptyState>}
    >
      {(rows) => (
        <>
          <RefusalNote error={cancel.error} />
          <RowTable title={say("imports")} className={style.list}>
            <thead>
              <tr>
                <th>{say("file")}</th>
                <th>{say("state")}</th>
                <th className="num">{say("taken")}</th>
                <th className="wide num">{say("leftOut")}</th>
                <th className="wide num">{say("when")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={one.id}>
                  <td>
                    <span className={`t-500 cut ${style.name}`}>{one.filename}</span>
                  </td>
                  <td>
                    <span className="row g8">
                      <StatusLabel tone={TONES[one.status]}>{say(`status_${one.status}`)}</StatusLabel>
                      {mayWrite && isImportUnfinished(one) && (
                        <Button
                          size="compact-xs"
                          variant="default"
                          loading={cancel.isPending && cancel.variables === one.id}
                          onClick={() => cancel.mutate(one.id)}
                        >
                          {say("stop")}
                        </Button>
                      )}
                    </span>
                  </td>
                  <td className="num">{(one.rows_created + one.rows_updated).toLocaleString(locale)}</td>
                  <td className={`wide num ${one.rows_failed ? "t-bad" : "t-2"}`} title={firstProblemText(one)}>
                    {one.rows_failed.toLocaleString(locale)}
                  </td>
                  <td className="wide num t-2" title={formatExactTime(one.created_at)}>
                    {formatTimeSince(one.created_at)}
                  </td>
                </tr>
              ))}
            </tbody>
          </RowTable>
        </>
      )}
    </ListRows>
  );
}

const firstProblemText = ({ problems }: TableImport) =>
  problems.map(({ line, row, column, message }) => `${line ?? row} · ${column} · ${message}`).join("\n") || undefined;
