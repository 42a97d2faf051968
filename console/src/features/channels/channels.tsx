import Plus from "icon:plus";
import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { SearchField } from "../../shared/list/search_field";
import { ListWithPanel } from "../../shared/patterns/side_panel";
import { EmptyState } from "../../shared/states/empty";
import { filterChannels, hasChannelFilters } from "./channel_choice";
import { ChannelTable } from "./channel_table";
import style from "./channels.module.css";
import { CHANNEL_SHOWS, CHANNEL_TYPES, type ChannelFilters, readChannelFilters } from "./filters";
import { MoreProviders } from "./provider_offers";
import { channelsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const PANEL_WIDTH = 372;
/** Its form is larger than the list. */
const ChannelPanel = lazy(() => import("./channel_panel"));

/** The ways by which notifications leave the console: mail, team chat, text messages and endpoints. */
export default function ChannelsPage() {
  const filters = useSearch({ from: "/frame/channels" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("notification_channels:write");
  const list = useQuery(channelsQuery);
  const changeFilters = (change: Partial<ChannelFilters>) =>
    void navigate({ to: "/channels", search: { ...filters, ...change }, replace: true });
  // Rows keep it: the filters of the moment come from the address.
  const openChannel = useCallback(
    (id: string) =>
      void navigate({ to: "/channels", search: (now) => ({ ...readChannelFilters(now), id }), replace: true }),
    [navigate],
  );
  usePageCommands(
    mayWrite ? [{ label: say("add"), keys: "c", run: () => void navigate({ to: "/channels/new" }) }] : [],
  );
  const all = list.data;
  const isEmpty = all?.length === 0;
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} renderRoot={(props) => <Link {...props} to="/channels/new" />}>
      {say("add")}
    </Button>
  );
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={all?.length} />}>
        {addButton}
      </PageBar>
      <ListWithPanel
        width={PANEL_WIDTH}
        panel={
          filters.id && (
            <Suspense fallback={<aside />}>
              <ChannelPanel key={filters.id} id={filters.id} onClose={() => changeFilters({ id: undefined })} />
            </Suspense>
          )
        }
      >
        {!isEmpty && <Toolbar filters={filters} onChange={changeFilters} />}
        <ListRows
          list={list}
          rows={all && filterChannels(all, filters)}
          columns={[30, 240, 140, 96]}
          none={
            hasChannelFilters(filters) && !isEmpty ? (
              <NothingFound onClear={() => void navigate({ to: "/channels", search: {}, replace: true })}>
                {say("noMatch")}
              </NothingFound>
            ) : (
              <EmptyState title={say("emptyTitle")} actions={addButton}>
                {say("empty")}
              </EmptyState>
            )
          }
        >
          {(rows) => (
            <div className={style.list}>
              <ChannelTable rows={rows} all={all ?? rows} chosenId={filters.id} onChoose={openChannel} />
              {mayWrite && !hasChannelFilters(filters) && <MoreProviders channels={rows} />}
            </div>
          )}
        </ListRows>
      </ListWithPanel>
    </>
  );
}

type ToolbarProps = { filters: ChannelFilters; onChange: (change: Partial<ChannelFilters>) => void };

const Toolbar = ({ filters, onChange }: ToolbarProps) => (
  <div className="toolbar">
    <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
    <SegmentedControl
      aria-label={say("show")}
      data={[
        { value: "", label: say("show_all") },
        ...CHANNEL_SHOWS.map((value) => ({ value, label: say(`show_${value}`) })),
      ]}
      value={filters.show ?? ""}
      onChange={(value) => onChange({ show: CHANNEL_SHOWS.find((name) => name === value) })}
    />
    <FilterSelect
      label={say("type")}
      any={say("anyType")}
      w={140}
      choices={CHANNEL_TYPES.map((value) => ({ value, label: say(`type_${value}`) }))}
      value={filters.type}
      onChange={(value) => onChange({ type: CHANNEL_TYPES.find((name) => name === value) })}
    />
  </div>
);
