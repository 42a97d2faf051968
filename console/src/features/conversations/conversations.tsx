import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import { usePermissionCheck } from "../../api/queries";
import { RefusedQuestionsNote } from "../../shared/agent/refused_note";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { EmptyState } from "../../shared/states/empty";
import { ConversationTabs } from "../../shared/trace/conversation_tabs";
import { ConversationTable, idsOfPeople } from "./conversation_table";
import { ConversationToolbar } from "./conversation_toolbar";
import { ExportButton, ExportNote, useConversationExport } from "./export_button";
import type { ConversationFilters } from "./filters";
import { hasConversationFilters } from "./list_query";
import { CONVERSATIONS_PER_PAGE, conversationsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

export default function ConversationsPage() {
  const filters = useSearch({ from: "/frame/conversations" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const list = useQuery(conversationsQuery(filters));
  const download = useConversationExport();
  const changeFilters = (change: Partial<ConversationFilters>) =>
    void navigate({ to: "/conversations", search: { ...filters, page: undefined, ...change }, replace: true });
  const clearFilters = () => void navigate({ to: "/conversations", search: {}, replace: true });
  // People who build agents read everybody's conversations, others their own.
  const seesAll = may("agents:write");
  // The click on a filter is answered first; the rows it brought follow.
  const rows = useDeferredValue(list.data?.data);
  const total = list.data?.pagination.total ?? 0;
  const isEmpty = rows?.length === 0 && !hasConversationFilters(filters);
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={list.data?.pagination.total} />}>
        {filters.agent && <AgentLogLink agentId={filters.agent} />}
        <ExportButton {...download} filters={filters} total={total} />
      </PageBar>
      <ConversationTabs />
      <RefusedQuestionsNote agentId={filters.agent} />
      {!isEmpty && (
        <ConversationToolbar
          filters={filters}
          onChange={changeFilters}
          seesAll={seesAll}
          shownPeople={idsOfPeople(rows ?? [])}
        />
      )}
      <ExportNote progress={download.progress} />
      <ListRows
        list={list}
        rows={rows}
        columns={[30, 300, 140, 96, 60]}
        none={
          isEmpty ? (
            <EmptyState title={say(seesAll ? "emptyTitle" : "emptyOwnTitle")}>
              {say(seesAll ? "empty" : "emptyOwn")}
            </EmptyState>
          ) : (
            <NothingFound onClear={clearFilters}>{say("noMatch")}</NothingFound>
          )
        }
      >
        {(rows) => <ConversationTable rows={rows} withPeople={seesAll} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={CONVERSATIONS_PER_PAGE}
        total={total}
        onChange={(page) => changeFilters({ page })}
      />
    </>
  );
}

/** The turns of the agent whose conversations are listed: its log finds words within questions and answers. */
const AgentLogLink = ({ agentId }: { agentId: string }) => (
  <Button
    variant="default"
    className="wide"
    renderRoot={(props) => <Link {...props} to="/agents/$agentId/log" params={{ agentId }} />}
  >
    {say("agentLog")}
  </Button>
);
