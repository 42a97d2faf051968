import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmDialog } from "../../shared/confirm";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { KindIcon } from "../../shared/marks/kind_icon";
import { StatusLabel, type Tone } from "../../shared/marks/status";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { permissionNameOf } from "../../shared/permissions/permissions";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { AccountForm } from "./account_form";
import { type Account, deleteAccount, type NewSecret, updateAccount, useAccountChange } from "./queries";
import { SecretsDialog } from "./secrets";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/service_accounts");
const TONES: Record<Account["status"], Tone> = { active: "ok", disabled: "idle", expired: "warn" };
type Dialog = "change" | "delete" | "disable" | "secrets";

/** Deletes it once its name is typed. */
function DeleteAccountDialog({ of: account, onClose }: { of: Account; onClose: () => void }) {
  const remove = useAccountChange(deleteAccount);
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: account.name })}
      name={account.name}
      label={say("typeName", { name: account.name })}
      action={say("delete")}
      problem={remove.error ? asApiError(remove.error).message : undefined}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutateAsync(account.id)}
      onClose={onClose}
    >
      {say("deleteText")}
    </ConfirmByNameDialog>
  );
}

/** What the account may do, from where, and when it last did. */
const AccountUses = ({ of: account }: { of: Account }) => (
  <span className={style.line}>
    <span title={account.permissions.map(permissionNameOf).join(", ")}>
      {say("permissionCount", { count: account.permissions.length })}
    </span>
    {account.allowed_ips.length > 0 && <span className="mono">{account.allowed_ips.join(", ")}</span>}
    {account.last_used_at ? (
      <span title={formatExactTime(account.last_used_at)}>
        {say("lastUsed", { when: formatTimeSince(account.last_used_at), address: account.last_used_ip ?? "" })}
      </span>
    ) : (
      <span>{say("neverUsed")}</span>
    )}
  </span>
);

type AccountMenuProps = { of: Account; onDialog: (dialog: Dialog) => void; onEnable: () => void };

function AccountMenu({ of: account, onDialog, onEnable }: AccountMenuProps) {
  const isDisabled = account.status === "disabled";
  return (
    <ActionsMenu label={say("actions", { name: account.name })}>
      <Menu.Item onClick={() => onDialog("change")}>{say("change")}</Menu.Item>
      <Menu.Item onClick={() => (isDisabled ? onEnable() : onDialog("disable"))}>
        {say(isDisabled ? "enable" : "disable")}
      </Menu.Item>
      <Menu.Item color="red" onClick={() => onDialog("delete")}>
        {say("delete")}
      </Menu.Item>
    </ActionsMenu>
  );
}

type Props = { of: Account; mayWrite: boolean; onMade: (name: string, secret: NewSecret) => void };

export function AccountRow({ of: account, mayWrite, onMade }: Props) {
  const [dialog, setDialog] = useState<Dialog>();
  const update = useAccountChange(updateAccount);
  const closeDialog = () => setDialog(undefined);
  const isOff = account.status !== "active";
  return (
    <li data-off={isOff || undefined}>
      <KindIcon kind="sub" />
      <div className="grow stack">
        <span className="row g8 wrap">
          <b className={`t-500 ${style.name}`}>{account.name}</b>
          <CopyableId>{account.client_id}</CopyableId>
        </span>
        {account.description && <span className="t-13 t-2">{account.description}</span>}
        <AccountUses of={account} />
        <RefusalNote error={update.error} />
      </div>
      <StatusLabel tone={TONES[account.status]}>{say(account.status)}</StatusLabel>
      <span className="row g6 fix">
        <Button size="xs" variant="default" onClick={() => setDialog("secrets")}>
          {say("secrets")}
        </Button>
        {mayWrite && (
          <AccountMenu
            of={account}
            onDialog={setDialog}
            onEnable={() => update.mutate({ id: account.id, status: "active" })}
          />
        )}
      </span>
      {dialog === "change" && <AccountForm of={account} onClose={closeDialog} />}
      {dialog === "disable" && (
        <ConfirmDialog
          title={say("disableTitle", { name: account.name })}
          action={say("disable")}
          error={update.error}
          isBusy={update.isPending}
          onConfirm={() => update.mutate({ id: account.id, status: "disabled" }, { onSuccess: closeDialog })}
          onClose={closeDialog}
        >
          <p>{say("disableText")}</p>
        </ConfirmDialog>
      )}
      {dialog === "delete" && <DeleteAccountDialog of={account} onClose={closeDialog} />}
      {dialog === "secrets" && (
        <SecretsDialog
          of={account}
          mayWrite={mayWrite}
          onMade={(name, secret) => {
            closeDialog();
            onMade(name, secret);
          }}
          onClose={closeDialog}
        />
      )}
    </li>
  );
}
