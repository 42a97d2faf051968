import Send from "icon:send";
import TriangleAlert from "icon:triangle-alert";
import { Button, FileInput, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { tenantQuery, usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { useMissingAccessHint } from "../../shared/states/access";
import { type ApiParameter, type ApiSchema, type Reference, resolveReference } from "./document";
import style from "./reference.module.css";
import {
  type CallProps,
  isChangingOperation,
  isFormOperation,
  listEditableParameters,
  listMissingParameters,
  planRequest,
} from "./request_draft";
import { needsPermission } from "./requirement";
import { ApiTrial } from "./trial";
import { TrialResult } from "./trial_result";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return !text.trim();
  }
}

/** Sends the request as the signed-in person and shows the answer as it came. */
export function TryForm(props: CallProps) {
  const { operation, draft } = props;
  const [trial] = useState(() => new ApiTrial());
  const { isRunning, answer, error } = useSyncExternalStore(trial.subscribe, trial.getSnapshot);
  const missing = listMissingParameters(operation, draft);
  const canSend = missing.length === 0 && isJson(draft.body);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isRunning) trial.stop();
    else if (canSend) void trial.send(planRequest(operation, draft));
  };
  return (
    <form className="stack g12" onSubmit={submit}>
      <TrialWarning operation={operation} />
      <DraftFields {...props} />
      <div className="row g8 wrap">
        <Button
          type="submit"
          size="xs"
          variant={isRunning ? "default" : "filled"}
          color={operation.method === "DELETE" && !isRunning ? "red" : undefined}
          leftSection={<Send size={13} />}
          disabled={!isRunning && !canSend}
        >
          {say(isRunning ? "stop" : "send", { method: operation.method })}
        </Button>
        <span className="t-12 t-3">{missing.length > 0 && say("missing", { names: missing.join(", ") })}</span>
      </div>
      <div aria-live="polite">
        {error && <Note tone="bad">{error.message}</Note>}
        {answer && <TrialResult answer={answer} isRunning={isRunning} />}
      </div>
    </form>
  );
}

/** What sending it means: that it acts for real, and that the server will refuse what is not permitted. */
function TrialWarning({ operation }: Pick<CallProps, "operation">) {
  const may = usePermissionCheck();
  const { data: tenant } = useQuery(tenantQuery);
  const isRefused = needsPermission(operation.requires) && !may(operation.requires);
  return (
    <>
      {isRefused && <MissingNote permission={operation.requires} />}
      {!isRefused && isChangingOperation(operation) && (
        <Note tone="warn">{say("actsForReal", { name: tenant?.name ?? "Retinue" })}</Note>
      )}
    </>
  );
}

const MissingNote = ({ permission }: { permission: string }) => (
  <Note tone="warn" icon={<TriangleAlert size={15} />}>
    {say("willRefuse")} {useMissingAccessHint(permission)}
  </Note>
);

function DraftFields({ reference, operation, draft, onChange }: CallProps) {
  const setValue = (name: string, value: string) => onChange({ ...draft, values: { ...draft.values, [name]: value } });
  const parameters = listEditableParameters(operation);
  return (
    <>
      {parameters.length > 0 && (
        <div className={style.fields}>
          {parameters.map((one) => (
            <ParameterField
              key={`${one.in} ${one.name}`}
              reference={reference}
              parameter={one}
              value={draft.values[one.name] ?? ""}
              onChange={(value) => setValue(one.name, value)}
            />
          ))}
        </div>
      )}
      {isFormOperation(operation) ? (
        <FormParts {...{ reference, operation, draft, onChange }} />
      ) : (
        operation.body && (
          <Textarea
            label={say("body")}
            autosize
            minRows={3}
            maxRows={20}
            spellCheck={false}
            classNames={{ input: "mono t-12" }}
            error={isJson(draft.body) ? undefined : say("noJson")}
            value={draft.body}
            onChange={(event) => onChange({ ...draft, body: event.currentTarget.value })}
          />
        )
      )}
    </>
  );
}

type FieldProps = {
  reference: Reference;
  parameter: ApiParameter;
  value: string;
  onChange: (value: string) => void;
};

function listOptions({ document }: Reference, schema: ApiSchema): string[] | undefined {
  const shape = resolveReference(document, schema);
  if (shape.enum) return shape.enum.map(String);
  return shape.type === "boolean" ? ["true", "false"] : undefined;
}

function ParameterField({ reference, parameter: { name, required, schema }, value, onChange }: FieldProps) {
  const options = listOptions(reference, schema);
  const shared = { label: <code className="mono t-12">{name}</code>, required, withAsterisk: required, size: "xs" };
  if (options)
    return (
      <Select
        {...shared}
        aria-label={name}
        data={options}
        clearable={!required}
        value={value || null}
        onChange={(next) => onChange(next ?? "")}
      />
    );
  return (
    <TextInput
      {...shared}
      aria-label={name}
      autoComplete="off"
      spellCheck={false}
      placeholder={schema.default === undefined ? undefined : String(schema.default)}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** The parts of a form: files to choose and texts beside them. */
function FormParts({ reference, operation, draft, onChange }: CallProps) {
  const schema = operation.body?.content["multipart/form-data"]?.schema ?? {};
  const parts = Object.entries(resolveReference(reference.document, schema).properties ?? {});
  return parts.map(([name, part]) => {
    const isFile = Boolean(part.contentMediaType ?? part.items?.contentMediaType);
    if (isFile)
      return (
        <FileInput
          key={name}
          size="xs"
          label={name}
          multiple
          value={draft.files[name] ?? []}
          onChange={(files) => onChange({ ...draft, files: { ...draft.files, [name]: files } })}
        />
      );
    const key = `body.${name}`;
    return (
      <TextInput
        key={name}
        size="xs"
        label={name}
        value={draft.values[key] ?? ""}
        onChange={(event) => onChange({ ...draft, values: { ...draft.values, [key]: event.currentTarget.value } })}
      />
    );
  });
}
