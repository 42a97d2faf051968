import Plus from "icon:plus";
import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { EmptyState } from "../../shared/states/empty";
import { TOOL_CATEGORIES, TOOL_SHOWS, TOOL_TYPES, type ToolFilters } from "./filters";
import { hasToolFilters, TOOLS_PER_PAGE, toolListQuery } from "./queries";
import { ToolTable } from "./tool_table";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");

/** The registry: what agents and workflows of the organization can do. */
export default function ToolsPage() {
  const filters = useSearch({ from: "/frame/tools" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("tools:write");
  const list = useQuery(toolListQuery(filters));
  const changeFilters = (change: Partial<ToolFilters>) =>
    void navigate({ to: "/tools", search: { ...filters, page: undefined, ...change }, replace: true });
  const openNew = () => void navigate({ to: "/tools/new" });
  usePageCommands(mayWrite ? [{ label: say("add"), keys: "c", run: openNew }] : []);
  const rows = list.data?.data;
  const total = list.data?.pagination.total ?? 0;
  const isEmpty = rows?.length === 0 && !hasToolFilters(filters);
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} renderRoot={(props) => <Link {...props} to="/tools/new" />}>
      {say("add")}
    </Button>
  );
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={list.data?.pagination.total} />}>
        {addButton}
      </PageBar>
      {!isEmpty && <Toolbar filters={filters} onChange={changeFilters} />}
      <ListRows
        list={list}
        rows={rows}
        columns={[30, 240, 140, 96]}
        none={
          isEmpty ? (
            <EmptyState title={say("emptyTitle")} actions={addButton}>
              {say("empty")}
            </EmptyState>
          ) : (
            <NothingFound onClear={() => void navigate({ to: "/tools", search: {}, replace: true })}>
              {say("noMatch")}
            </NothingFound>
          )
        }
      >
        {(rows) => <ToolTable rows={rows} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={TOOLS_PER_PAGE}
        total={total}
        onChange={(page) => changeFilters({ page })}
      />
    </>
  );
}

type ToolbarProps = { filters: ToolFilters; onChange: (change: Partial<ToolFilters>) => void };

const Toolbar = ({ filters, onChange }: ToolbarProps) => (
  <div className="toolbar">
    <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
    <SegmentedControl
      aria-label={say("show")}
      data={[
        { value: "", label: say("show_all") },
        ...TOOL_SHOWS.map((value) => ({ value, label: say(`show_${value}`) })),
      ]}
      value={filters.show ?? ""}
      onChange={(value) => onChange({ show: TOOL_SHOWS.find((name) => name === value) })}
    />
    <FilterSelect
      label={say("type")}
      any={say("anyType")}
      choices={TOOL_TYPES.map((value) => ({ value, label: say(`type_${value}`) }))}
      value={filters.type}
      onChange={(value) => onChange({ type: TOOL_TYPES.find((name) => name === value) })}
    />
    <FilterSelect
      label={say("category")}
      any={say("anyCategory")}
      choices={TOOL_CATEGORIES.map((value) => ({ value, label: say(`category_${value}`) }))}
      value={filters.category}
      onChange={(value) => onChange({ category: TOOL_CATEGORIES.find((name) => name === value) })}
    />
  </div>
);
