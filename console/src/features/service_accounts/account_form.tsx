import { Button, Checkbox, Modal, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { permissionsQuery } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { permissionAreaName, permissionNameOf, permissionVerbName } from "../../shared/permissions/permissions";
import { useFieldProblems } from "../../shared/use_fields";
import { listGrantable, splitLines } from "./grants";
import { PresetChoice } from "./preset_choice";
import type { Preset } from "./presets";
import { type Account, createAccountWithSecret, type NewSecret, updateAccount, useAccountChange } from "./queries";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/service_accounts");

const VerbLabel = ({ of: verb }: { of: string }) => (
  <>
    {permissionVerbName(verb)} <span className="mono t-12 t-3">{verb}</span>
  </>
);

const PermissionProblem = ({ text }: { text?: string }) =>
  text && (
    <span className={`t-12 ${style.problem}`} role="alert">
      {text}
    </span>
  );

type PermissionsProps = { chosen: string[]; problem?: string; onChange: (keys: string[]) => void };

function PermissionPicker({ chosen, problem, onChange }: PermissionsProps) {
  const { data: role } = useQuery(permissionsQuery);
  const togglePermission = (key: string) =>
    onChange(chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  return (
    <div className="stack g6">
      <span className="t-13 t-500">{say("accountPermissions")}</span>
      <span className="t-12 t-2">{say("onlyHeld")}</span>
      <PermissionProblem text={problem} />
      <div className={style.permissions}>
        {listGrantable(role?.permissions ?? []).map(([category, keys]) => (
          <fieldset key={category} className={style.category}>
            <legend className="t-13 t-500">
              {permissionAreaName(category)} <span className="mono t-12 t-3">{category}</span>
            </legend>
            {keys.map((key) => (
              <Checkbox
                key={key}
                size="xs"
                label={<VerbLabel of={key.slice(category.length + 1)} />}
                aria-label={`${permissionNameOf(key)} (${key})`}
                checked={chosen.includes(key)}
                onChange={() => togglePermission(key)}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </div>
  );
}

type DetailsProps = {
  description: string;
  permissions: string[];
  addresses: string;
  problemOf: (field: "description" | "permissions" | "allowed_ips") => string | undefined;
  onDescription: (text: string) => void;
  onPermissions: (keys: string[]) => void;
  onAddresses: (text: string) => void;
};

/** What a preset decides by itself: each permission, from where, and what the account is for. */
const AccountDetails = ({ description, permissions, addresses, problemOf, ...change }: DetailsProps) => (
  <>
    <TextInput
      label={say("description")}
      error={problemOf("description")}
      value={description}
      maxLength={500}
      onChange={(event) => change.onDescription(event.currentTarget.value)}
    />
    <PermissionPicker chosen={permissions} problem={problemOf("permissions")} onChange={change.onPermissions} />
    <Textarea
      label={say("allowedIps")}
      description={say("allowedIpsHint")}
      error={problemOf("allowed_ips")}
      autosize
      minRows={1}
      maxRows={5}
      value={addresses}
      onChange={(event) => change.onAddresses(event.currentTarget.value)}
    />
  </>
);

type Props = { of?: Account; onMade?: (name: string, secret: NewSecret) => void; onClose: () => void };

/** A new account, whose first secret follows at once, or changes of one. */
export function AccountForm({ of: account, onMade, onClose }: Props) {
  const [name, setName] = useState(account?.name ?? "");
  const [description, setDescription] = useState(account?.description ?? "");
  const [permissions, setPermissions] = useState(account?.permissions ?? []);
  const [preset, setPreset] = useState<Preset | undefined>(account && "own");
  const { data: role } = useQuery(permissionsQuery);
  const isDetailed = preset === "own";
  const choosePreset = (next: Preset, keys: string[]) => {
    setPreset(next);
    if (next !== "own") setPermissions(keys);
  };
  const [addresses, setAddresses] = useState(account?.allowed_ips.join("\n") ?? "");
  const made = useRef<{ id?: string }>({});
  const save = useAccountChange(async () => {
    const body = { name: name.trim(), description, permissions, allowed_ips: splitLines(addresses) };
    if (account) await updateAccount({ id: account.id, ...body });
    else onMade?.(body.name, await createAccountWithSecret(made.current, body));
  });
  const { form, rest, problemOf } = useFieldProblems(save.error, ["name", "description", "permissions", "allowed_ips"]);
  const handleSubmit = (event: FormEvent) => {
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
      <form className="stack g16" ref={form} onSubmit={handleSubmit}>
        <ProblemNote>{rest}</ProblemNote>
        {!account && <PresetChoice held={role?.permissions ?? []} chosen={preset} onChoose={choosePreset} />}
        <TextInput
          label={say("name")}
          error={problemOf("name")}
          value={name}
          maxLength={100}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {isDetailed ? (
          <AccountDetails
            {...{ description, permissions, addresses, problemOf }}
            onDescription={setDescription}
            onPermissions={setPermissions}
            onAddresses={setAddresses}
          />
        ) : (
          <PermissionProblem text={problemOf("permissions")} />
        )}
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
