import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { NothingFound } from "../../shared/list/nothing_found";
import { SearchField } from "../../shared/list/search_field";
import { Sheet } from "../../shared/patterns/sheet";
import type { RoleKey } from "../../shared/people/role_keys";
import { roleNameOf } from "../../shared/people/roles";
import { permissionAreaName } from "../../shared/permissions/permissions";
import { SettingsPage } from "../../shared/settings/settings_page";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { showToast } from "../../shared/toast/toasts";
import { RoleChangeBar } from "./change_summary";
import type { RoleFilters } from "./filters";
import {
  CHANGEABLE_ROLES,
  type Choices,
  chooseChatOnly,
  choosePermission,
  LOCKED_ROLE,
  listPermissionRows,
  listRoleChanges,
  permissionAreaOf,
} from "./matrix";
import { PermissionMatrix } from "./permission_matrix";
import { rolesQuery } from "./queries";
import { SaveRolesDialog } from "./save_roles";
import en from "./words.en.json";

const say = createTranslator(en, "features/roles");

/** What each role may, for all organizations of the server; a super administrator changes it. */
export default function RolesPage() {
  const filters = useSearch({ from: "/frame/settings/roles" });
  const navigate = useNavigate();
  const mayChange = usePermissionCheck()("admin:roles");
  const roles = useQuery(rolesQuery);
  const [choices, setChoices] = useState<Choices>({});
  const [isReviewing, setReviewing] = useState(false);
  const changeFilters = (change: Partial<RoleFilters>) =>
    void navigate({ to: "/settings/roles", search: { ...filters, ...change }, replace: true });
  const stored = roles.data;
  const rows = stored && listPermissionRows(stored, choices, filters);
  const changes = stored ? listRoleChanges(stored, choices) : [];
  const openReview = async () => {
    // Somebody else may have changed roles since they were read: what is reviewed is what will be.
    const { data, error } = await roles.refetch();
    if (error) showToast(asApiError(error).message);
    else setReviewing(data !== undefined && listRoleChanges(data, choices).length > 0);
  };
  const handleSaved = () => {
    showToast(say("saved"));
    setChoices({});
    setReviewing(false);
  };
  return (
    <SettingsPage tab="roles">
      <Toolbar
        filters={filters}
        areas={[...new Set(stored?.[LOCKED_ROLE].map(permissionAreaOf))]}
        onChatOnly={stored && mayChange ? (role) => setChoices((now) => chooseChatOnly(stored, now, role)) : undefined}
        hint={say(mayChange ? "everywhere" : "whoChanges")}
        onChange={changeFilters}
      />
      {roles.error && !stored ? (
        <FailureState error={roles.error} onRetry={() => void roles.refetch()} />
      ) : !stored || !rows ? (
        <RowSkeletons columns={[260, 90, 90, 90, 90]} />
      ) : (
        <Sheet width={1048}>
          {rows.length === 0 ? (
            <NothingFound onClear={() => changeFilters({ search: undefined, area: undefined, differences: undefined })}>
              {say("noMatch")}
            </NothingFound>
          ) : (
            <PermissionMatrix
              stored={stored}
              choices={choices}
              rows={rows}
              onChoose={
                mayChange
                  ? (role, permission, isOn) =>
                      setChoices((now) => choosePermission(stored, now, role, permission, isOn))
                  : undefined
              }
            />
          )}
          {changes.length > 0 && (
            <RoleChangeBar
              changes={changes}
              isBusy={roles.isFetching}
              onDiscard={() => setChoices({})}
              onReview={() => void openReview()}
            />
          )}
        </Sheet>
      )}
      {isReviewing && changes.length > 0 && (
        <SaveRolesDialog changes={changes} onSaved={handleSaved} onClose={() => setReviewing(false)} />
      )}
    </SettingsPage>
  );
}

type ToolbarProps = {
  filters: RoleFilters;
  areas: string[];
  hint: string;
  onChatOnly?: (role: RoleKey) => void;
  onChange: (change: Partial<RoleFilters>) => void;
};

const Toolbar = ({ filters, areas, hint, onChatOnly, onChange }: ToolbarProps) => (
  <div className="toolbar">
    <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
    <FilterSelect
      w={200}
      label={say("area")}
      any={say("anyArea")}
      choices={areas.map((value) => ({ value, label: permissionAreaName(value) }))}
      value={filters.area}
      onChange={(area) => onChange({ area })}
    />
    <button
      type="button"
      className={`chip ${filters.differences ? "set" : ""}`}
      aria-pressed={Boolean(filters.differences)}
      onClick={() => onChange({ differences: filters.differences ? undefined : true })}
    >
      {say("differences")}
    </button>
    {onChatOnly && (
      <Menu withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button size="xs" variant="default">
            {say("chatOnly")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{say("chatOnlyFor")}</Menu.Label>
          {CHANGEABLE_ROLES.map((role) => (
            <Menu.Item key={role} onClick={() => onChatOnly(role)}>
              {roleNameOf(role)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    )}
    <span className="push t-12 t-3">{hint}</span>
  </div>
);
