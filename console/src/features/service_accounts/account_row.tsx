import Ellipsis from "icon:ellipsis";
import { ActionIcon, Button, Menu, Modal, TextInput } from "@mantine/core";
import { useState } from "react";
import { Confirm } from "../../shared/confirm";
import { words } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { KindIcon } from "../../shared/marks/kind_icon";
import { Status, type Tone } from "../../shared/marks/status";
import { permissionName } from "../../shared/permissions/permissions";
import { exactTime, timeSince } from "../../shared/time";
import { AccountForm } from "./account_form";
import { type Account, deleteAccount, type NewSecret, updateAccount, useAccountChange } from "./queries";
import { Refusal } from "./refusal";
import { Secrets } from "./secrets";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = words(en, "features/service_accounts");
const TONES: Record<Account["status"], Tone> = { active: "ok", disabled: "idle", expired: "warn" };
type Dialog = "change" | "delete" | "disable" | "secrets";

/** Cannot be undone: says what breaks, and takes the name. */
function Delete({ of: account, onClose }: { of: Account; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const remove = useAccountChange(deleteAccount);
  return (
    <Modal opened onClose={onClose} title={say("deleteTitle", { name: account.name })} size={440}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void remove.mutateAsync(account.id).then(onClose, () => undefined);
        }}
      >
        <Refusal error={remove.error} />
        <p className="t-2">{say("deleteText")}</p>
        <TextInput
          label={say("typeName", { name: account.name })}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button type="submit" color="red" loading={remove.isPending} disabled={typed !== account.name}>
            {say("delete")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** What the account may do, from where, and when it last did. */
const Uses = ({ of: account }: { of: Account }) => (
  <span className={style.line}>
    <span title={account.permissions.map(permissionName).join(", ")}>
      {say("permissionCount", { count: account.permissions.length })}
    </span>
    {account.allowed_ips.length > 0 && <span className="mono">{account.allowed_ips.join(", ")}</span>}
    {account.last_used_at ? (
      <span title={exactTime(account.last_used_at)}>
        {say("lastUsed", { when: timeSince(account.last_used_at), address: account.last_used_ip ?? "" })}
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
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={say("actions", { name: account.name })}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onDialog("change")}>{say("change")}</Menu.Item>
        <Menu.Item onClick={() => (isDisabled ? onEnable() : onDialog("disable"))}>
          {say(isDisabled ? "enable" : "disable")}
        </Menu.Item>
        <Menu.Item color="red" onClick={() => onDialog("delete")}>
          {say("delete")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

type Props = { of: Account; mayWrite: boolean; onMade: (name: string, secret: NewSecret) => void };

export function AccountRow({ of: account, mayWrite, onMade }: Props) {
  const [dialog, setDialog] = useState<Dialog>();
  const update = useAccountChange(updateAccount);
  const close = () => setDialog(undefined);
  const isOff = account.status !== "active";
  return (
    <li data-off={isOff || undefined}>
      <KindIcon of="sub" />
      <div className="grow stack">
        <span className="row g8 wrap">
          <b className={`t-500 ${style.name}`}>{account.name}</b>
          <CopyableId>{account.client_id}</CopyableId>
        </span>
        {account.description && <span className="t-13 t-2">{account.description}</span>}
        <Uses of={account} />
        <Refusal error={update.error} />
      </div>
      <Status tone={TONES[account.status]}>{say(account.status)}</Status>
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
      {dialog === "change" && <AccountForm of={account} onClose={close} />}
      {dialog === "disable" && (
        <Confirm
          title={say("disableTitle", { name: account.name })}
          action={say("disable")}
          error={update.error}
          isBusy={update.isPending}
          onConfirm={() => update.mutate({ id: account.id, status: "disabled" }, { onSuccess: close })}
          onClose={close}
        >
          <p>{say("disableText")}</p>
        </Confirm>
      )}
      {dialog === "delete" && <Delete of={account} onClose={close} />}
      {dialog === "secrets" && (
        <Secrets
          of={account}
          mayWrite={mayWrite}
          onMade={(name, secret) => {
            close();
            onMade(name, secret);
          }}
          onClose={close}
        />
      )}
    </li>
  );
}
