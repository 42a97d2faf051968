import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { useKeys } from "../../shared/frame/keys";
import { words } from "../../shared/i18n/words";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { AccountForm } from "./account_form";
import { AccountRow } from "./account_row";
import { accountsQuery, type NewSecret } from "./queries";
import { SecretShownOnce, type ShownSecret } from "./secrets";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = words(en, "features/service_accounts");

/** Machines that call the API with permissions of their own. */
export default function ServiceAccounts() {
  const mayWrite = useMay()("service_accounts:write");
  const list = useQuery(accountsQuery);
  const [isAdding, setAdding] = useState(false);
  const [shown, setShown] = useState<ShownSecret>();
  const add = () => setAdding(true);
  const show = (name: string, secret: NewSecret) => setShown({ name, secret });
  useKeys(mayWrite ? { c: add } : {});
  const accounts = list.data?.data;
  return (
    <>
      <Bar title={say("title")}>
        {mayWrite && (
          <Button leftSection={<Plus size={14} />} onClick={add}>
            {say("add")}
          </Button>
        )}
      </Bar>
      <div className={style.sheet}>
        {list.error && !accounts && <Failure error={list.error} onRetry={() => void list.refetch()} />}
        {!list.error && !accounts && <RowsLoading rows={3} columns={[28, 300, 96]} />}
        {accounts?.length === 0 && (
          <div className="card">
            <Empty title={say("noneTitle")} actions={mayWrite && <Button onClick={add}>{say("add")}</Button>}>
              {say("none")}
            </Empty>
          </div>
        )}
        {accounts && accounts.length > 0 && (
          <ul className={`card ${style.rows}`}>
            {accounts.map((account) => (
              <AccountRow key={account.id} of={account} mayWrite={mayWrite} onMade={show} />
            ))}
          </ul>
        )}
      </div>
      {isAdding && <AccountForm onMade={show} onClose={() => setAdding(false)} />}
      {shown && <SecretShownOnce of={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}
