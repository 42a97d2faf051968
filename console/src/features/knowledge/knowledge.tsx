import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { AgentPage } from "../../shared/agent/agent_page";
import { createTranslator } from "../../shared/i18n/words";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { EmptyState } from "../../shared/states/empty";
import { IndexSearch } from "./ask";
import { DocumentTable, DocumentToolbar } from "./documents";
import { DocumentDropZone } from "./drop_zone";
import type { DocumentFilters } from "./filters";
import style from "./knowledge.module.css";
import { PassagesDrawer } from "./passages";
import { DOCUMENTS_PER_PAGE, documentsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/knowledge");

export default function KnowledgePage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/knowledge" });
  const { document } = useSearch({ from: "/frame/agents/$agentId/knowledge" });
  return (
    <AgentPage agentId={agentId} tab="knowledge">
      {(agent) => (
        <div className={`${style.split} ${document ? style.chosen : ""}`}>
          <section className={style.list} aria-label={say("documents")}>
            <DocumentsPane agentId={agent.id} />
          </section>
          <aside className={style.side} aria-label={say(document ? "passages" : "askTitle")}>
            {document ? (
              <PassagesDrawer key={document} agentId={agent.id} documentId={document} />
            ) : (
              <IndexSearch agentId={agent.id} />
            )}
          </aside>
        </div>
      )}
    </AgentPage>
  );
}

function DocumentsPane({ agentId }: { agentId: string }) {
  const filters = useSearch({ from: "/frame/agents/$agentId/knowledge" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const list = useQuery(documentsQuery(agentId, filters));
  const changeFilters = (change: Partial<DocumentFilters>) =>
    void navigate({
      to: "/agents/$agentId/knowledge",
      params: { agentId },
      search: { ...filters, page: undefined, ...change },
      replace: true,
    });
  const rows = list.data?.data;
  const total = list.data?.pagination.total ?? 0;
  const isFiltered = Boolean(filters.search || filters.status);
  const isEmpty = rows?.length === 0 && !isFiltered;
  return (
    <>
      {may("agents:write") && <DocumentDropZone agentId={agentId} isLarge={isEmpty} />}
      {rows && !isEmpty && <DocumentToolbar filters={filters} total={total} onChange={changeFilters} />}
      <ListRows
        list={list}
        rows={rows}
        columns={[16, 260, 90, 60]}
        count={5}
        none={
          isEmpty ? (
            <EmptyState title={say("emptyTitle")}>{say("empty")}</EmptyState>
          ) : (
            <NothingFound onClear={() => changeFilters({ search: undefined, status: undefined })}>
              {say("noMatch")}
            </NothingFound>
          )
        }
      >
        {(rows) => <DocumentTable agentId={agentId} rows={rows} chosen={filters.document} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={DOCUMENTS_PER_PAGE}
        total={total}
        onChange={(page) => changeFilters({ page })}
      />
    </>
  );
}
