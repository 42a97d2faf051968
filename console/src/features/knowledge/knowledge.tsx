import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMay } from "../../api/queries";
import { AgentPage } from "../../shared/agent/agent_page";
import { words } from "../../shared/i18n/words";
import { Pages } from "../../shared/list/pages";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { AskIndex } from "./ask";
import { Documents, Toolbar } from "./documents";
import { DropZone } from "./drop_zone";
import type { DocumentFilters } from "./filters";
import style from "./knowledge.module.css";
import { Passages } from "./passages";
import { DOCUMENTS_PER_PAGE, documentsQuery } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/knowledge");

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
              <Passages key={document} agentId={agent.id} documentId={document} />
            ) : (
              <AskIndex agentId={agent.id} />
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
  const may = useMay();
  const list = useQuery(documentsQuery(agentId, filters));
  const set = (change: Partial<DocumentFilters>) =>
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
      {may("agents:write") && <DropZone agentId={agentId} isLarge={isEmpty} />}
      {rows && !isEmpty && <Toolbar filters={filters} total={total} onChange={set} />}
      {list.error && !rows ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowsLoading columns={[16, 260, 90, 60]} rows={5} />
      ) : isEmpty ? (
        <Empty title={say("emptyTitle")}>{say("empty")}</Empty>
      ) : rows.length === 0 ? (
        <Empty
          title={say("noMatchTitle")}
          actions={
            <Button variant="default" onClick={() => set({ search: undefined, status: undefined })}>
              {say("clear")}
            </Button>
          }
        >
          {say("noMatch")}
        </Empty>
      ) : (
        <Documents agentId={agentId} rows={rows} chosen={filters.document} />
      )}
      <Pages page={filters.page ?? 1} perPage={DOCUMENTS_PER_PAGE} total={total} onChange={(page) => set({ page })} />
    </>
  );
}
