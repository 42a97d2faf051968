import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { FilterChip } from "../../shared/list/filter_chip";
import { FilterSelect } from "../../shared/list/filter_select";
import { NothingFound } from "../../shared/list/nothing_found";
import { SearchField } from "../../shared/list/search_field";
import { ListWithPanel } from "../../shared/patterns/side_panel";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { EmitEventDialog } from "./emit_dialog";
import { EventPanel } from "./event_panel";
import { EventRows } from "./event_rows";
import { EventTabs } from "./event_tabs";
import { EVENT_CATEGORIES, type EventFilters } from "./filters";
import { LiveLine } from "./live_line";
import { eventKindsQuery, eventQueryOf, hasEventFilters } from "./queries";
import { useEventTail } from "./use_event_tail";
import en from "./words.en.json";

const say = createTranslator(en, "features/events");
const PANEL_WIDTH = 400;

/** What happens in the organization, as it happens, and what came of each of it. */
export default function EventLogPage() {
  const filters = useSearch({ from: "/frame/events" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("events:write");
  const [isEmitting, setEmitting] = useState(false);
  const changeFilters = (change: Partial<EventFilters>) =>
    void navigate({ to: "/events", search: { ...filters, ...change }, replace: true });
  return (
    <>
      <PageBar title={say("title")}>
        {mayWrite && (
          <Button variant="default" onClick={() => setEmitting(true)}>
            {say("emit")}
          </Button>
        )}
      </PageBar>
      <EventTabs />
      <ListWithPanel
        width={PANEL_WIDTH}
        panel={
          filters.event && (
            <EventPanel
              key={filters.event}
              id={filters.event}
              onChoose={(event) => changeFilters({ event })}
              onClose={() => changeFilters({ event: undefined })}
            />
          )
        }
      >
        <EventToolbar filters={filters} onChange={changeFilters} />
        <LiveEvents key={JSON.stringify(eventQueryOf(filters))} filters={filters} onChange={changeFilters} />
      </ListWithPanel>
      {isEmitting && <EmitEventDialog onClose={() => setEmitting(false)} />}
    </>
  );
}

type PartProps = { filters: EventFilters; onChange: (change: Partial<EventFilters>) => void };

function LiveEvents({ filters, onChange }: PartProps) {
  const { tail, history, hold, release } = useEventTail(filters);
  const { rows } = tail;
  const moveChoice = (step: number) => {
    const next = rows[rows.findIndex(({ id }) => id === filters.event) + step];
    if (next) onChange({ event: next.id });
  };
  const toggleHold = tail.isHeld ? release : hold;
  usePageCommands([
    { label: say(tail.isHeld ? "goOn" : "pause"), keys: " ", run: toggleHold },
    { label: say("nextEvent"), keys: "j", run: () => moveChoice(1) },
    { label: say("previousEvent"), keys: "k", run: () => moveChoice(-1) },
  ]);
  if (history.error && !rows.length)
    return <FailureState error={history.error} onRetry={() => void history.refetch()} />;
  if (!rows.length && history.isPending) return <RowSkeletons columns={[90, 240, 160]} />;
  return (
    <>
      <LiveLine tail={tail} onToggle={toggleHold} />
      {rows.length ? (
        <EventRows
          tail={tail}
          chosen={filters.event}
          isAllRead={!history.hasNextPage}
          isReading={history.isFetchingNextPage}
          onChoose={(event) => onChange({ event })}
          onReadMore={() => void history.fetchNextPage()}
          onHold={hold}
          onRelease={release}
        />
      ) : hasEventFilters(filters) ? (
        <NothingFound
          onClear={() => onChange({ search: undefined, type: undefined, category: undefined, correlation: undefined })}
        >
          {say("noMatch")}
        </NothingFound>
      ) : (
        <EmptyState title={say("emptyTitle")}>{say("empty")}</EmptyState>
      )}
    </>
  );
}

function EventToolbar({ filters, onChange }: PartProps) {
  const kinds = useQuery(eventKindsQuery);
  const [correlation, setCorrelation] = useState(filters.correlation ?? "");
  return (
    <div className="toolbar">
      <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
      <FilterSelect
        label={say("category")}
        any={say("anyCategory")}
        choices={EVENT_CATEGORIES.map((value) => ({ value, label: say(`category_${value}`) }))}
        value={filters.category}
        onChange={(value) => onChange({ category: EVENT_CATEGORIES.find((name) => name === value) })}
      />
      <FilterSelect
        label={say("type")}
        any={say("anyType")}
        searchable
        choices={kinds.data?.map(({ name }) => name) ?? []}
        value={filters.type}
        onChange={(type) => onChange({ type })}
      />
      <FilterChip
        label={say("correlation")}
        value={filters.correlation}
        onClear={() => onChange({ correlation: undefined })}
      >
        {(close) => (
          <form
            className="stack g8"
            onSubmit={(event) => {
              event.preventDefault();
              close();
              onChange({ correlation: correlation.trim() || undefined });
            }}
          >
            <TextInput
              label={say("correlation")}
              data-autofocus
              maxLength={64}
              value={correlation}
              onChange={(event) => setCorrelation(event.currentTarget.value)}
            />
            <Button type="submit" size="xs">
              {say("apply")}
            </Button>
          </form>
        )}
      </FilterChip>
    </div>
  );
}
