import ScanSearch from "icon:scan-search";
import { Button } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { ListWithPanel } from "../../shared/patterns/side_panel";
import { SettingsPage } from "../../shared/settings/settings_page";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import style from "./audit.module.css";
import { hasAuditFilters } from "./audit_query";
import { AuditEntryPanel } from "./entry_panel";
import { AuditEntryTable } from "./entry_table";
import { AuditExportMenu } from "./export_menu";
import type { AuditFilters } from "./filters";
import { auditQuery, ENTRIES_PER_PAGE, verifyAuditChain } from "./queries";
import { AuditToolbar } from "./toolbar";
import { ChainVerdictNote } from "./verdict";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");
const PANEL_WIDTH = 400;

/** Who did what to which object: a log to which rows are only added. */
export default function AuditPage() {
  const filters = useSearch({ from: "/frame/settings/audit" });
  const navigate = useNavigate();
  const mayRead = usePermissionCheck()("audit:read");
  const list = useQuery(auditQuery(filters));
  const verify = useMutation({ mutationFn: verifyAuditChain });
  const changeFilters = (change: Partial<AuditFilters>) =>
    void navigate({ to: "/settings/audit", search: { ...filters, page: undefined, ...change }, replace: true });
  const clearFilters = () => void navigate({ to: "/settings/audit", search: {}, replace: true });
  const closePanel = () => changeFilters({ entry: undefined, page: filters.page });
  const entries = list.data?.data;
  const opened = entries?.find(({ id }) => id === filters.entry);
  return (
    <SettingsPage
      tab="audit"
      actions={
        mayRead && (
          <>
            <AuditExportMenu filters={filters} />
            <Button leftSection={<ScanSearch size={14} />} loading={verify.isPending} onClick={() => verify.mutate()}>
              {say("verify")}
            </Button>
          </>
        )
      }
    >
      <ListWithPanel
        width={PANEL_WIDTH}
        panel={
          opened && <AuditEntryPanel key={opened.id} entry={opened} onFilter={changeFilters} onClose={closePanel} />
        }
      >
        {list.error && !entries ? (
          <FailureState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <div className={style.scroll}>
            <AuditToolbar filters={filters} onChange={changeFilters} onClear={clearFilters} />
            {verify.error && (
              <div className={`note bad ${style.verdict}`} role="alert">
                {asApiError(verify.error).message}
              </div>
            )}
            {verify.data && <ChainVerdictNote verdict={verify.data} onClose={verify.reset} />}
            {!entries && <RowSkeletons columns={[110, 220, 140, 160]} />}
            {entries?.length === 0 && (
              <NothingFound onClear={hasAuditFilters(filters) ? clearFilters : undefined}>
                {say("noMatch")}
              </NothingFound>
            )}
            {entries && entries.length > 0 && <AuditEntryTable entries={entries} filters={filters} />}
            <PageSwitcher
              page={filters.page ?? 1}
              perPage={ENTRIES_PER_PAGE}
              total={list.data?.pagination.total ?? 0}
              onChange={(page) => changeFilters({ page, entry: undefined })}
            />
          </div>
        )}
      </ListWithPanel>
    </SettingsPage>
  );
}
