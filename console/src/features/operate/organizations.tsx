import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { OPERATE_PERMISSION } from "../../shared/operate/tabs";
import { ListWithPanel } from "../../shared/patterns/side_panel";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { type OrganizationFilters, PLANS } from "./filters";
import style from "./operate.module.css";
import { OperatePage } from "./operate_page";
import { OrganizationPanel } from "./organization_panel";
import { OrganizationTable } from "./organization_table";
import { listPlanChoices } from "./plan_names";
import { organizationsQuery, ROWS_PER_PAGE } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const PANEL_WIDTH = 400;

/** The organizations of this server, each apart from the others. */
export default function OrganizationsPage() {
  const filters = useSearch({ from: "/frame/operate/organizations" });
  const navigate = useNavigate();
  const mayOperate = usePermissionCheck()(OPERATE_PERMISSION);
  const list = useQuery(organizationsQuery(filters));
  const create = () => void navigate({ to: "/operate/organizations/new" });
  useShortcutKeys(mayOperate ? { c: create } : {});
  const changeFilters = (change: Partial<OrganizationFilters>) =>
    void navigate({ to: "/operate/organizations", search: { ...filters, page: undefined, ...change }, replace: true });
  const closePanel = () => changeFilters({ id: undefined, page: filters.page });
  const organizations = list.data?.data;
  return (
    <OperatePage
      tab="organizations"
      actions={
        <Button leftSection={<Plus size={14} />} onClick={create}>
          {say("newOrganization")}
        </Button>
      }
    >
      <ListWithPanel
        width={PANEL_WIDTH}
        panel={filters.id && <OrganizationPanel key={filters.id} id={filters.id} onClose={closePanel} />}
      >
        {list.error && !organizations ? (
          <FailureState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <div className={style.scroll}>
            <OrganizationToolbar filters={filters} onChange={changeFilters} />
            {!organizations && <RowSkeletons columns={[240, 120, 120]} />}
            {organizations?.length === 0 && (
              <NothingFound onClear={() => changeFilters({ search: undefined, plan: undefined })}>
                {say("noOrganizationMatch")}
              </NothingFound>
            )}
            {organizations && organizations.length > 0 && (
              <OrganizationTable organizations={organizations} filters={filters} />
            )}
            <PageSwitcher
              page={filters.page ?? 1}
              perPage={ROWS_PER_PAGE}
              total={list.data?.pagination.total ?? 0}
              onChange={(page) => changeFilters({ page })}
            />
          </div>
        )}
      </ListWithPanel>
    </OperatePage>
  );
}

type ToolbarProps = { filters: OrganizationFilters; onChange: (change: Partial<OrganizationFilters>) => void };

const OrganizationToolbar = ({ filters, onChange }: ToolbarProps) => (
  <div className="toolbar">
    <SearchField label={say("findOrganization")} value={filters.search} onChange={(search) => onChange({ search })} />
    <FilterSelect
      w={160}
      label={say("plan")}
      any={say("anyPlan")}
      choices={listPlanChoices()}
      value={filters.plan}
      onChange={(value) => onChange({ plan: PLANS.find((plan) => plan === value) })}
    />
  </div>
);
