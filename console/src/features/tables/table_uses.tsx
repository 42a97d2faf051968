import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon, type KindName } from "../../shared/marks/kind_icon";
import { Sheet } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { tableUsesQuery } from "./queries";
import { TablePage } from "./table_page";
import style from "./tables.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/tables");
const KINDS: Record<string, { icon: KindName; word: "usedByTool" | "usedByForm" | "usedByWorkflow" | "usedByTable" }> =
  {
    tools: { icon: "tool", word: "usedByTool" },
    forms: { icon: "form", word: "usedByForm" },
    workflows: { icon: "flow", word: "usedByWorkflow" },
    data_tables: { icon: "know", word: "usedByTable" },
  };

/** Who reads and writes the table: as long as there is anything, it cannot be deleted. */
export default function TableUsesPage() {
  const { tableId } = useParams({ from: "/frame/tables/$tableId/uses" });
  return (
    <TablePage tableId={tableId} tab="uses">
      {() => <TableUses tableId={tableId} />}
    </TablePage>
  );
}

function TableUses({ tableId }: { tableId: string }) {
  const users = useQuery(tableUsesQuery(tableId));
  const rows = Object.entries(users.data ?? {}).flatMap(([kind, found]) => found.map((user) => ({ kind, ...user })));
  return (
    <Sheet width={760}>
      <p className="t-13 t-2">{say("usesLead")}</p>
      {users.error && <FailureState error={users.error} onRetry={() => void users.refetch()} />}
      {!users.error && !users.data && <RowSkeletons rows={3} columns={[22, 160]} />}
      {users.data && (
        <div className="card">
          {rows.map(({ kind, id, name }) => (
            <div key={`${kind} ${id} ${name}`} className={style.line}>
              <KindIcon kind={KINDS[kind]?.icon ?? "turn"} small />
              <span className="t-13 t-500 grow cut">{name}</span>
              <span className="t-12 t-3">{KINDS[kind] ? say(KINDS[kind].word) : kind}</span>
            </div>
          ))}
          {rows.length === 0 && <p className={`${style.line} t-13 t-3`}>{say("unused")}</p>}
        </div>
      )}
    </Sheet>
  );
}
