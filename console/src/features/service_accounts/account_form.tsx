import { Button, Checkbox, Modal, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { permissionsQuery } from "../../api/queries";
import { words } from "../../shared/i18n/words";
import { areaName, permissionName, verbName } from "../../shared/permissions/permissions";
import { useFields } from "../../shared/use_fields";
import { grantable, linesOf } from "./grants";
import { type Account, createAccount, createSecret, type NewSecret, updateAccount, useAccountChange } from "./queries";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = words(en, "features/service_accounts");

const Verb = ({ of: verb }: { of: string }) => (
  <>
    {verbName(verb)} <span className="mono t-12 t-3">{verb}</span>
  </>
);

type PermissionsProps = { chosen: string[]; problem?: string; onChange: (keys: string[]) => void };

function Permissions({ chosen, problem, onChange }: PermissionsProps) {
  const { data: role } = useQuery(permissionsQuery);
  const toggle = (key: string) =>
    onChange(chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  return (
    <div className="stack g6">
      <span className="t-13 t-500">{say("accountPermissions")}</span>
      <span className="t-12 t-2">{say("onlyHeld")}</span>
      {problem && (
        <span className={`t-12 ${style.problem}`} role="alert">
          {problem}
        </span>
      )}
      <div className={style.permissions}>
        {grantable(role?.permissions ?? []).map(([category, keys]) => (
          <fieldset key={category} className={style.category}>
            <legend className="t-13 t-500">
              {areaName(category)} <span className="mono t-12 t-3">{category}</span>
            </legend>
            {keys.map((key) => (
              <Checkbox
                key={key}
                size="xs"
                label={<Verb of={key.slice(category.length + 1)} />}
                aria-label={`${permissionName(key)} (${key})`}
                checked={chosen.includes(key)}
                onChange={() => toggle(key)}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </div>
  );
}

type Props = { of?: Account; onMade?: (name: string, secret: NewSecret) => void; onClose: () => void };

/** A new account, whose first secret follows at once, or changes of one. */
export function AccountForm({ of: account, onMade, onClose }: Props) {
  const [name, setName] = useState(account?.name ?? "");
  const [description, setDescription] = useState(account?.description ?? "");
  const [permissions, setPermissions] = useState(account?.permissions ?? []);
  const [addresses, setAddresses] = useState(account?.allowed_ips.join("\n") ?? "");
  const save = useAccountChange(async () => {
    const body = { name: name.trim(), description, permissions, allowed_ips: linesOf(addresses) };
    if (account) await updateAccount({ id: account.id, ...body });
    else onMade?.(body.name, await createSecret((await createAccount(body)).id));
  });
  const { form, rest, problemOf } = useFields(save.error, ["name", "description", "permissions", "allowed_ips"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.mutateAsync(undefined).then(onClose, () => undefined);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={account ? say("changeTitle", { name: account.name }) : say("addTitle")}
      size={640}
    >
      <form className="stack g16" ref={form} onSubmit={submit}>
        {rest && (
          <div className="note bad" role="alert">
            {rest}
          </div>
        )}
        <TextInput
          label={say("name")}
          error={problemOf("name")}
          value={name}
          maxLength={100}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={say("description")}
          error={problemOf("description")}
          value={description}
          maxLength={500}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <Permissions chosen={permissions} problem={problemOf("permissions")} onChange={setPermissions} />
        <Textarea
          label={say("allowedIps")}
          description={say("allowedIpsHint")}
          error={problemOf("allowed_ips")}
          autosize
          minRows={1}
          maxRows={5}
          value={addresses}
          onChange={(event) => setAddresses(event.currentTarget.value)}
        />
        <Button
          type="submit"
          className="push"
          loading={save.isPending}
          disabled={!name.trim() || permissions.length === 0}
        >
          {say(account ? "save" : "create")}
        </Button>
      </form>
    </Modal>
  );
}
