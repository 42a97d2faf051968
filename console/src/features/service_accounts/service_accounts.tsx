import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { SettingsPage } from "../../shared/settings/settings_page";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { AccountForm } from "./account_form";
import { AccountRow } from "./account_row";
import { accountsQuery, type NewSecret } from "./queries";
import { SecretShownOnce, type ShownSecret } from "./secrets";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/service_accounts");

/** Machines that call the API with permissions of their own. */
export default function ServiceAccountsPage() {
  const mayWrite = usePermissionCheck()("service_accounts:write");
  const list = useQuery(accountsQuery);
  const isAdding = useSearch({ from: "/frame/settings/service-accounts" }).create === true;
  const navigate = useNavigate();
  const setAdding = (isOpen: boolean) =>
    void navigate({ to: "/settings/service-accounts", search: isOpen ? { create: true } : {}, replace: true });
  const [shown, setShown] = useState<ShownSecret>();
  const openCreateForm = () => setAdding(true);
  const showNewSecret = (name: string, secret: NewSecret) => setShown({ name, secret });
  usePageCommands(mayWrite ? [{ label: say("add"), keys: "c", run: openCreateForm }] : []);
  const accounts = list.data?.data;
  return (
    <SettingsPage
      tab="serviceAccounts"
      count={accounts?.length}
      actions={
        mayWrite && (
          <Button leftSection={<Plus size={14} />} onClick={openCreateForm}>
            {say("add")}
          </Button>
        )
      }
    >
      <div className={style.sheet}>
        {list.error && !accounts && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
        {!list.error && !accounts && <RowSkeletons rows={3} columns={[28, 300, 96]} />}
        {accounts?.length === 0 && (
          <div className="card">
            <EmptyState
              title={say("noneTitle")}
              actions={mayWrite && <Button onClick={openCreateForm}>{say("add")}</Button>}
            >
              {say("none")}
            </EmptyState>
          </div>
        )}
        {accounts && accounts.length > 0 && (
          <ul className={`card ${style.rows}`}>
            {accounts.map((account) => (
              <AccountRow key={account.id} of={account} mayWrite={mayWrite} onMade={showNewSecret} />
            ))}
          </ul>
        )}
      </div>
      {isAdding && mayWrite && <AccountForm onMade={showNewSecret} onClose={() => setAdding(false)} />}
      {shown && <SecretShownOnce of={shown} onClose={() => setShown(undefined)} />}
    </SettingsPage>
  );
}
