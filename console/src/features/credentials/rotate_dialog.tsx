import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { useFieldProblems } from "../../shared/use_fields";
import { CustomSecrets } from "./custom_secrets";
import {
  type Credential,
  credentialTypesQuery,
  replaceSecrets,
  type SecretValues,
  testCredential,
  useCredentialChange,
} from "./queries";
import { enteredSecrets, SecretFields } from "./secret_fields";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");

type Rotation = { secrets: SecretValues; isTrusted: boolean };

/** Try new secrets and put them into the place of the old ones once they work, or if somebody insists. */
export function RotateDialog({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const { data: types } = useQuery(credentialTypesQuery);
  const type = types?.find((choice) => choice.type === credential.type);
  const [values, setValues] = useState<SecretValues>({});
  const rotate = useCredentialChange(async ({ secrets, isTrusted }: Rotation) => {
    // Only a whole set can be tried before it is stored: nobody reads the rest back.
    const isWhole = credential.secret_keys.every((key) => key in secrets);
    if (type?.testable && isWhole && !isTrusted) {
      const test = await testCredential(credential.id, secrets);
      if (!test.success) return { test, isStored: false };
    }
    await replaceSecrets({ id: credential.id, secrets, merge: true });
    return { test: type?.testable ? await testCredential(credential.id) : undefined, isStored: true };
  });
  const { form, rest, problemOf } = useFieldProblems(rotate.error, [...credential.secret_keys, "secrets"]);
  const entered = enteredSecrets(values);
  const failed = rotate.data?.test && !rotate.data.test.success ? rotate.data : undefined;
  const isElsewhere = rotate.error && asApiError(rotate.error).code === "destination_changed";
  const rotateSecrets = (isTrusted: boolean) =>
    rotate.mutate({ secrets: entered, isTrusted }, { onSuccess: ({ test }) => (test?.success ?? true) && onClose() });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotateSecrets(false);
  };
  return (
    <Modal opened onClose={onClose} title={say("rotateTitle", { name: credential.name })} size={560}>
      <form className="stack g16" ref={form} onSubmit={submit}>
        <p className="t-13 t-2">{say("rotateText")}</p>
        <ProblemNote>{rest && isElsewhere ? say("destinationChanged") : rest}</ProblemNote>
        {failed?.test && (
          <div className="note bad" role="alert">
            <span className="grow">
              {say(failed.isStored ? "storedButRefused" : "refusedAndKept", { message: failed.test.message })}
            </span>
            {!failed.isStored && (
              <Button size="xs" variant="default" onClick={() => rotateSecrets(true)}>
                {say("rotateAnyway")}
              </Button>
            )}
          </div>
        )}
        {credential.type === "custom" ? (
          <CustomSecrets values={values} problem={problemOf("secrets")} onChange={setValues} />
        ) : (
          <SecretFields
            isChange
            schema={type?.secret_schema ?? {}}
            values={values}
            problemOf={problemOf}
            onChange={setValues}
          />
        )}
        <Button type="submit" className="push" loading={rotate.isPending} disabled={!Object.keys(entered).length}>
          {say(type?.testable ? "rotateAndTest" : "rotate")}
        </Button>
      </form>
    </Modal>
  );
}
