import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { PageTabs } from "../../shared/patterns/page_tabs";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { type DataTable, deleteTable, tableQuery, useTableChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/tables");
const TABS = [
  { name: "rows", to: "/tables/$tableId" },
  { name: "imports", to: "/tables/$tableId/imports" },
  { name: "uses", to: "/tables/$tableId/uses" },
] as const;

type TablePageProps = {
  tableId: string;
  tab: (typeof TABS)[number]["name"];
  actions?: (table: DataTable) => ReactNode;
  children: (table: DataTable) => ReactNode;
};

/** The frame that all screens of one table share: its bar and the tabs to its other screens. */
export function TablePage({ tableId, tab, actions, children }: TablePageProps) {
  const { data: table, error, refetch } = useQuery(tableQuery(tableId));
  const mayWrite = usePermissionCheck()("data_tables:write");
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <PageBar
        trail={[{ label: say("title"), to: "/tables" }]}
        title={table?.name ?? (error ? tableId : "…")}
        tab={tab === "rows" ? undefined : say(tab)}
        isThere={Boolean(table)}
        after={table && <span className="t-3 num t-13 wide">{say("rowCount", { count: table.row_count })}</span>}
      >
        {table && actions?.(table)}
        {table && mayWrite && (
          <ActionsMenu label={say("more")}>
            <Menu.Item color="red" onClick={() => setDeleting(true)}>
              {say("delete")}
            </Menu.Item>
          </ActionsMenu>
        )}
      </PageBar>
      <PageTabs
        label={say("parts")}
        tabs={TABS.map(({ name, to }) => ({ label: say(name), to, params: { tableId } }))}
      />
      {error && !table && <FailureState error={error} onRetry={() => void refetch()} />}
      {!error && !table && <RowSkeletons columns={[120, 300]} />}
      {table && children(table)}
      {table && isDeleting && <DeleteTableDialog table={table} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteTableDialog({ table, onClose }: { table: DataTable; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useTableChange(deleteTable);
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: table.name })}
      name={table.name}
      label={say("typeName", { name: table.name })}
      action={say("delete")}
      problem={remove.error ? asApiError(remove.error).message : undefined}
      isBusy={remove.isPending}
      onConfirm={async () => {
        await remove.mutateAsync(table.id);
        await navigate({ to: "/tables", replace: true });
      }}
      onClose={onClose}
    >
      {say("deleteText", { count: table.row_count })}
    </ConfirmByNameDialog>
  );
}
