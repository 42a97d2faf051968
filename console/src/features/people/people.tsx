import UserPlus from "icon:user-plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { tenantQuery, usePermissionCheck } from "../../api/queries";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { ListWithPanel } from "../../shared/patterns/side_panel";
import { InvitePopover } from "../../shared/people/invite";
import { ROLES } from "../../shared/people/role_keys";
import { roleNameOf } from "../../shared/people/roles";
import { SettingsPage } from "../../shared/settings/settings_page";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { type PeopleFilters, USER_STATES } from "./filters";
import { InvitationList } from "./invitation_list";
import style from "./people.module.css";
import { PeopleTable } from "./people_table";
import { USERS_PER_PAGE, usersQuery } from "./queries";
import { UserPanel } from "./user_panel";
import { hasPeopleFilters } from "./user_query";
import { WaitingUsers } from "./waiting_users";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

/** Who belongs to the organization, who was invited and who asks to come in. */
export default function PeoplePage() {
  const filters = useSearch({ from: "/frame/settings/people" });
  const navigate = useNavigate();
  const mayManage = usePermissionCheck()("admin:users");
  const { data: tenant } = useQuery(tenantQuery);
  const list = useQuery(usersQuery(tenant?.id, filters));
  const [isInviting, setInviting] = useState(false);
  usePageCommands(mayManage ? [{ label: say("invite"), keys: "c", run: () => setInviting(true) }] : []);
  const changeFilters = (change: Partial<PeopleFilters>) =>
    void navigate({ to: "/settings/people", search: { ...filters, page: undefined, ...change }, replace: true });
  const closePanel = useCallback(
    () => void navigate({ to: "/settings/people", search: (now) => ({ ...now, person: undefined }), replace: true }),
    [navigate],
  );
  const isFiltered = hasPeopleFilters(filters);
  const users = list.data?.users;
  return (
    <SettingsPage
      tab="people"
      count={isFiltered ? undefined : list.data?.total}
      actions={
        mayManage && (
          <InvitePopover isOpen={isInviting} onChange={setInviting}>
            <Button leftSection={<UserPlus size={14} />} onClick={() => setInviting(!isInviting)}>
              {say("invite")}
            </Button>
          </InvitePopover>
        )
      }
    >
      <ListWithPanel
        width={372}
        panel={
          mayManage &&
          filters.person && (
            <UserPanel
              key={filters.person}
              userId={filters.person}
              listed={users?.find(({ id }) => id === filters.person)}
              onClose={closePanel}
            />
          )
        }
      >
        {list.error && !users ? (
          <FailureState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <div className={style.scroll}>
            <Toolbar filters={filters} onChange={changeFilters} />
            {!isFiltered && mayManage && <WaitingUsers tenantId={tenant?.id} />}
            {!users ? (
              <RowSkeletons columns={[32, 240, 140, 96]} />
            ) : users.length === 0 ? (
              <NothingFound onClear={() => changeFilters({ search: undefined, role: undefined, state: undefined })}>
                {say("noMatch")}
              </NothingFound>
            ) : (
              <PeopleTable users={users} openedId={filters.person} />
            )}
            <PageSwitcher
              page={filters.page ?? 1}
              perPage={USERS_PER_PAGE}
              total={list.data?.total ?? 0}
              onChange={(page) => changeFilters({ page })}
            />
            {!isFiltered && mayManage && <InvitationList />}
          </div>
        )}
      </ListWithPanel>
    </SettingsPage>
  );
}

type ToolbarProps = { filters: PeopleFilters; onChange: (change: Partial<PeopleFilters>) => void };

const Toolbar = ({ filters, onChange }: ToolbarProps) => (
  <div className="toolbar">
    <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
    <FilterSelect
      w={168}
      label={say("role")}
      any={say("anyRole")}
      choices={ROLES.map((value) => ({ value, label: roleNameOf(value) }))}
      value={filters.role}
      onChange={(value) => onChange({ role: ROLES.find((role) => role === value) })}
    />
    <FilterSelect
      w={158}
      label={say("state")}
      any={say("anyState")}
      choices={USER_STATES.map((value) => ({ value, label: say(value) }))}
      value={filters.state}
      onChange={(value) => onChange({ state: USER_STATES.find((state) => state === value) })}
    />
  </div>
);
