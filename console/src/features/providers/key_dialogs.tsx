import { Button, Modal } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { asApiError } from "../../api/errors";
import { ConfirmByName } from "../../shared/confirm_by_name";
import { words } from "../../shared/i18n/words";
import { type ApiKey, deleteKey, testKey, updateKey, useKeyChange } from "../../shared/providers/queries";
import { testWords } from "../../shared/providers/server_words";
import { SecretInput } from "../../shared/secret_input";
import en from "./words.en.json";

const say = words(en, "features/providers");
type Props = { of: ApiKey; onClose: () => void };

const Refusal = ({ text }: { text?: string }) =>
  text ? (
    <div className="note bad" role="alert">
      {text}
    </div>
  ) : null;

/** Put another secret into the place of the stored one, and ask the provider at once. */
export function ReplaceKey({ of: key, onClose }: Props) {
  const [secret, setSecret] = useState("");
  const replace = useKeyChange(async () => {
    await updateKey({ id: key.id, api_key: secret.trim() });
    return testKey(key.id);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void replace.mutateAsync(undefined).then(
      (test) => test.success && onClose(),
      () => undefined,
    );
  };
  const failed = replace.data && !replace.data.success ? replace.data.message : undefined;
  return (
    <Modal opened onClose={onClose} title={say("replaceTitle", { name: key.name })} size={440}>
      <form className="stack g16" onSubmit={submit}>
        <Refusal
          text={
            replace.error
              ? asApiError(replace.error).message
              : failed && say("stillStored", { message: testWords(failed) })
          }
        />
        <SecretInput
          label={say("newKey")}
          description={say("replaceHint")}
          autoComplete="off"
          data-autofocus
          visibilityToggleButtonProps={{ "aria-label": say("showKey") }}
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
        <Button type="submit" className="push" loading={replace.isPending} disabled={!secret.trim()}>
          {say("replaceAndTest")}
        </Button>
      </form>
    </Modal>
  );
}

/** Deletes it once its name is typed. */
export function DeleteKey({ of: key, onClose }: Props) {
  const remove = useKeyChange(deleteKey);
  const refusal = remove.error ? asApiError(remove.error) : undefined;
  const isUsed = refusal?.code === "api_key_in_use";
  return (
    <ConfirmByName
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
    </ConfirmByName>
  );
}
