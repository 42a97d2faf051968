import { Button, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { PageBar } from "../../shared/frame/bar";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { LeaveQuestion } from "../../shared/patterns/leave_question";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { useFieldProblems } from "../../shared/use_fields";
import style from "./credential.module.css";
import { CustomSecrets } from "./custom_secrets";
import { expiryOfDay } from "./expiry_day";
import type { CredentialTypeName } from "./filters";
import {
  type CredentialType,
  createCredential,
  credentialTypesQuery,
  type SecretValues,
  useCredentialChange,
} from "./queries";
import { enteredSecrets, SecretFields } from "./secret_fields";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const NAMED_FIELDS = ["name", "description", "expires_at", "test_url", "secrets"] as const;
const TESTED_BY_ADDRESS: readonly CredentialTypeName[] = ["api_key", "bearer_token", "basic_auth"];

/** A new credential: its type decides which fields there are. */
export default function NewCredential() {
  const types = useQuery(credentialTypesQuery);
  return (
    <>
      <PageBar trail={[{ label: say("title"), to: "/credentials" }]} title={say("newTitle")} isThere={false} />
      <Sheet width={760}>
        {types.error && <FailureState error={types.error} onRetry={() => void types.refetch()} />}
        {!types.error && !types.data && <RowSkeletons rows={4} columns={[200, 300]} />}
        {types.data && <NewCredentialForm types={types.data} />}
      </Sheet>
    </>
  );
}

type CredentialWords = { name: string; description: string; lastDay: string; testUrl: string };
type FieldsProps = {
  words: CredentialWords;
  problemOf: (field: string) => string | undefined;
  onChange: (changes: Partial<CredentialWords>) => void;
};

/** What was entered of each type: who looks at another one finds it there when coming back. */
function useSecretsByType(typeName: CredentialTypeName) {
  const [entered, setEntered] = useState<Partial<Record<CredentialTypeName, SecretValues>>>({});
  const setValues = (next: SecretValues) => setEntered({ ...entered, [typeName]: next });
  const hasSecrets = Object.values(entered).some((secrets) => Object.keys(enteredSecrets(secrets)).length > 0);
  return { values: entered[typeName] ?? {}, setValues, hasSecrets };
}

function NewCredentialForm({ types }: { types: CredentialType[] }) {
  const navigate = useNavigate();
  const [typeName, setTypeName] = useState<CredentialTypeName>("api_key");
  const [words, setWords] = useState<CredentialWords>({ name: "", description: "", lastDay: "", testUrl: "" });
  const { values, setValues, hasSecrets } = useSecretsByType(typeName);
  const hasChanges = hasSecrets || Object.values(words).some(Boolean);
  const type = types.find((choice) => choice.type === typeName);
  const create = useCredentialChange(createCredential);
  const keys = Object.keys(type?.secret_schema ?? {});
  const { form, rest, problemOf } = useFieldProblems(create.error, [...keys, ...NAMED_FIELDS]);
  const changeWords = (changes: Partial<CredentialWords>) => setWords({ ...words, ...changes });
  const fields = { words, problemOf, onChange: changeWords };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const [name, description, testUrl] = [words.name.trim(), words.description.trim(), words.testUrl.trim()];
    create.mutate(
      {
        name,
        type: typeName,
        secrets: enteredSecrets(values),
        ...(description ? { description } : {}),
        ...(testUrl ? { metadata: { test_url: testUrl } } : {}),
        ...(words.lastDay ? { expires_at: expiryOfDay(words.lastDay) } : {}),
      },
      {
        onSuccess: ({ id }) =>
          void navigate({
            to: "/credentials/$credentialId",
            params: { credentialId: id },
            replace: true,
            ignoreBlocker: true,
          }),
      },
    );
  };
  return (
    <form className={style.column} ref={form} onSubmit={submit}>
      <LeaveQuestion hasChanges={hasChanges} />
      <ProblemNote>{rest}</ProblemNote>
      <SheetSection title={say("what")}>
        <div className={style.fields}>
          <Select
            label={say("type")}
            description={type?.description}
            allowDeselect={false}
            data={types.map((choice) => ({ value: choice.type, label: say(choice.type) }))}
            value={typeName}
            onChange={(chosen) => {
              const found = types.find((choice) => choice.type === chosen);
              if (found) setTypeName(found.type);
            }}
          />
          <NameFields {...fields} />
        </div>
      </SheetSection>
      <SheetSection title={say("secrets")} note={say("secretsHint")}>
        {typeName === "custom" ? (
          <CustomSecrets values={values} problem={problemOf("secrets")} onChange={setValues} />
        ) : (
          <SecretFields schema={type?.secret_schema ?? {}} values={values} problemOf={problemOf} onChange={setValues} />
        )}
      </SheetSection>
      <SheetSection title={say("life")}>
        <div className={style.fields}>
          <LifeFields {...fields} isTestable={!!type?.testable && TESTED_BY_ADDRESS.includes(typeName)} />
        </div>
      </SheetSection>
      <div className="row g8 wrap">
        <span className="t-12 t-3 grow">{say("nothingStored")}</span>
        <Button variant="default" renderRoot={(props) => <Link {...props} to="/credentials" />}>
          {general("cancel")}
        </Button>
        <Button type="submit" loading={create.isPending} disabled={!words.name.trim()}>
          {say("create")}
        </Button>
      </div>
    </form>
  );
}

function NameFields({ words, problemOf, onChange }: FieldsProps) {
  return (
    <>
      <TextInput
        label={say("name")}
        description={say("nameHint")}
        withAsterisk
        data-autofocus
        error={problemOf("name")}
        value={words.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Textarea
        className={style.wide}
        label={say("description")}
        autosize
        minRows={1}
        maxRows={4}
        error={problemOf("description")}
        value={words.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
    </>
  );
}

function LifeFields({ words, problemOf, onChange, isTestable }: FieldsProps & { isTestable: boolean }) {
  return (
    <>
      <TextInput
        type="date"
        label={say("expiresAt")}
        description={say("expiresHint")}
        error={problemOf("expires_at")}
        value={words.lastDay}
        onChange={(event) => onChange({ lastDay: event.currentTarget.value })}
      />
      {isTestable && (
        <TextInput
          type="url"
          label={say("testUrl")}
          description={say("testUrlHint")}
          placeholder="https://api.example.com/me"
          error={problemOf("test_url")}
          value={words.testUrl}
          onChange={(event) => onChange({ testUrl: event.currentTarget.value })}
        />
      )}
    </>
  );
}
