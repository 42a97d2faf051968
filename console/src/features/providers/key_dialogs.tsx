import { Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { asApiError } from "../../api/errors";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import {
  type ApiKey,
  deleteProviderKey,
  testProviderKey,
  updateProviderKey,
  useProviderKeyChange,
} from "../../shared/providers/queries";
import { describeTestResult } from "../../shared/providers/server_words";
import { SecretInput } from "../../shared/secret_input";
import en from "./words.en.json";

const say = createTranslator(en, "features/providers");
type Props = { of: ApiKey; onClose: () => void };

/** Change a key and ask its provider at once; what fails then is stored all the same, and the problem says so. */
function useTestedKeyChange(key: ApiKey, stored: "stillStored" | "addressStored", onClose: () => void) {
  const change = useProviderKeyChange(async (body: { api_key?: string; base_url?: string }) => {
    await updateProviderKey({ id: key.id, ...body });
    return testProviderKey(key.id);
  });
  const failed = change.data && !change.data.success ? change.data.message : undefined;
  return {
    isPending: change.isPending,
    problem: change.error
      ? asApiError(change.error).message
      : failed && say(stored, { message: describeTestResult(failed) }),
    submit: (event: FormEvent, body: { api_key?: string; base_url?: string }) => {
      event.preventDefault();
      void change.mutateAsync(body).then(
        (test) => test.success && onClose(),
        () => undefined,
      );
    },
  };
}

/** Put another secret into the place of the stored one, and ask the provider at once. */
export function ReplaceKeyDialog({ of: key, onClose }: Props) {
  const [secret, setSecret] = useState("");
  const { problem, isPending, submit } = useTestedKeyChange(key, "stillStored", onClose);
  return (
    <Modal opened onClose={onClose} title={say("replaceTitle", { name: key.name })} size={440}>
      <form className="stack g16" onSubmit={(event) => submit(event, { api_key: secret.trim() })}>
        <ProblemNote>{problem}</ProblemNote>
        <NewSecretInput description={say("replaceHint")} value={secret} onChange={setSecret} isFirst />
        <Button type="submit" className="push" loading={isPending} disabled={!secret.trim()}>
          {say("replaceAndTest")}
        </Button>
      </form>
    </Modal>
  );
}

/** Reach the server elsewhere. A secret belongs to the address it was entered for, so it is asked for again. */
export function ChangeAddressDialog({ of: key, onClose }: Props) {
  const [address, setAddress] = useState(key.base_url ?? "");
  const [secret, setSecret] = useState("");
  const { problem, isPending, submit } = useTestedKeyChange(key, "addressStored", onClose);
  const hasSecret = key.key_prefix !== "";
  const body = { base_url: address.trim(), ...(hasSecret ? { api_key: secret.trim() } : {}) };
  const isChanged = body.base_url !== "" && body.base_url !== key.base_url && body.api_key !== "";
  return (
    <Modal opened onClose={onClose} title={say("addressTitle", { name: key.name })} size={440}>
      <form className="stack g16" onSubmit={(event) => submit(event, body)}>
        <ProblemNote>{problem}</ProblemNote>
        <TextInput
          label={say("newAddress")}
          description={say("addressHint")}
          type="url"
          data-autofocus
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
        {hasSecret && <NewSecretInput description={say("secretAgain")} value={secret} onChange={setSecret} />}
        <Button type="submit" className="push" loading={isPending} disabled={!isChanged}>
          {say("changeAndTest")}
        </Button>
      </form>
    </Modal>
  );
}

type SecretProps = { description: string; value: string; onChange: (value: string) => void; isFirst?: boolean };

const NewSecretInput = ({ description, value, onChange, isFirst }: SecretProps) => (
  <SecretInput
    label={say("newKey")}
    description={description}
    autoComplete="off"
    data-autofocus={isFirst}
    visibilityToggleButtonProps={{ "aria-label": say("showKey") }}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);

/** Deletes it once its name is typed. */
export function DeleteKeyDialog({ of: key, onClose }: Props) {
  const remove = useProviderKeyChange(deleteProviderKey);
  const refusal = remove.error ? asApiError(remove.error) : undefined;
  const isUsed = refusal?.code === "api_key_in_use";
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: key.name })}
      name={key.name}
      label={say("typeName")}
      action={say(isUsed ? "deleteAnyway" : "delete")}
      problem={isUsed ? say("deleteUsed") : refusal?.message}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutateAsync({ id: key.id, force: isUsed })}
      onClose={onClose}
    >
      {say("deleteText")}
    </ConfirmByNameDialog>
  );
}
