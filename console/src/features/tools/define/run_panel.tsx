import Play from "icon:play";
import { Button, Kbd, SegmentedControl, Select } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { usePageCommands } from "../../../shared/frame/commands";
import { general } from "../../../shared/i18n/general";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { RefusalNote } from "../../../shared/patterns/refusal_note";
import { RowSkeletons } from "../../../shared/states/states";
import { useFieldProblems } from "../../../shared/use_fields";
import { type Executed, executionQuery, type JsonValues } from "../queries";
import en from "../words.en.json";
import { type Callable, listCallables, splitInput } from "./callable";
import style from "./define.module.css";
import { JsonField } from "./json_field";
import { RunResult } from "./run_result";
import { type RunTarget, runToolTarget } from "./run_target";
import { readSchemaFields } from "./schema_fields";
import { SchemaForm } from "./schema_form";

const say = createTranslator(en, "features/tools");

type RunPanelProps = {
  target: RunTarget;
  /** Something entered is not valid yet. */
  isBlocked?: boolean;
  runId?: string;
  onLine?: (line: number) => void;
};

/** Runs the tool, unsaved changes included. `runId` names an execution whose input stands in the fields at first. */
export function RunPanel({ runId, ...props }: RunPanelProps) {
  const earlier = useQuery({ ...executionQuery(props.target.tool?.id ?? "", runId ?? ""), enabled: Boolean(runId) });
  const isWaiting = runId && !earlier.data && !earlier.error;
  return (
    <section className={style.right} aria-label={say("tryIt")}>
      {isWaiting ? (
        <RowSkeletons rows={3} columns={[90, 160]} />
      ) : (
        <RunForm key={runId} {...props} firstInput={earlier.data?.input as JsonValues | undefined} />
      )}
    </section>
  );
}

type Finished = { executed: Executed; input: JsonValues; toolId?: string };
type RunFormProps = Omit<RunPanelProps, "runId"> & { firstInput?: JsonValues };

function useRuns(target: RunTarget) {
  const client = useQueryClient();
  const [finished, setFinished] = useState<Finished[]>([]);
  const run = useMutation({
    mutationFn: (input: JsonValues) => runToolTarget(target, input),
    onSuccess: (executed, input) =>
      setFinished((before) => [{ executed, input, toolId: target.trial ? undefined : target.tool?.id }, ...before]),
    onSettled: () => (target.trial ? undefined : client.invalidateQueries({ queryKey: ["tools"] })),
  });
  return { run, finished };
}

/** The chosen function and its values, as the fields or the JSON have them. */
function useRunInput(tool: RunTarget["described"], firstInput: JsonValues = {}) {
  const callables = listCallables(tool);
  const [first] = useState(() => splitInput(callables, firstInput));
  const [name, setName] = useState(first.name);
  const [values, setValues] = useState(first.values);
  const [way, setWay] = useState<string>();
  const [isValid, setValid] = useState(true);
  const chosen = callables.find((callable) => callable.name === name) ?? callables[0];
  const fields = readSchemaFields(chosen?.schema);
  const isJson = way ? way === "json" : fields.length === 0;
  const choose = (next: Callable["name"]) => {
    setName(next);
    setValues({});
  };
  const input = chosen ? chosen.toInput(values) : values;
  return { callables, chosen, choose, fields, values, setValues, isJson, setWay, isValid, setValid, input };
}

function RunForm({ target, isBlocked = false, firstInput, onLine }: RunFormProps) {
  const { run, finished } = useRuns(target);
  const entry = useRunInput(target.described, firstInput);
  const isOn = Boolean(target.trial ?? target.tool?.is_enabled);
  const names = entry.fields.map((field) => field.name);
  const { form, rest, problemOf } = useFieldProblems(run.error, names);
  const asksFirst = Boolean(entry.chosen?.asksFirst || target.tool?.requires_approval);
  const canRun = entry.isValid && !run.isPending && !isBlocked && isOn;
  const start = () => void (canRun && run.mutate(entry.input));
  usePageCommands([{ label: say("run"), keys: "mod+enter", run: start }]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  return (
    <>
      <div className={style.runHead}>
        <h2 className="t-sec grow">{say("tryIt")}</h2>
        <SegmentedControl
          aria-label={say("inputAs")}
          data={[
            { value: "form", label: say("asForm"), disabled: entry.fields.length === 0 },
            { value: "json", label: "JSON" },
          ]}
          value={entry.isJson ? "json" : "form"}
          onChange={entry.setWay}
        />
      </div>
      <div className={style.runBody}>
        <form className="stack g12" ref={form} onSubmit={submit}>
          {rest && <RefusalNote error={run.error} />}
          <RunInput entry={entry} problemOf={problemOf} />
          {asksFirst && <Note tone="warn">{say("runsUnasked")}</Note>}
          <div className="row g8 wrap">
            <Button type="submit" size="xs" leftSection={<Play size={13} />} loading={run.isPending} disabled={!canRun}>
              {say(asksFirst ? "runUnasked" : "run")}
            </Button>
            <span className="t-12 t-3">
              <Kbd>{general("ctrl")} ↵</Kbd>{" "}
              {say(target.trial ? "runsEntered" : target.leavesOut ? "runsSaved" : "runsReal")}
            </span>
          </div>
          {!isOn && <p className="t-12 t-3">{say("offCannotRun")}</p>}
        </form>
        <div className="stack g12" role="log" aria-label={say("results")}>
          {finished.map((one) => (
            <RunResult key={one.executed.execution_id} {...one} onLine={onLine} />
          ))}
        </div>
      </div>
    </>
  );
}

type RunInputProps = { entry: ReturnType<typeof useRunInput>; problemOf: (name: string) => string | undefined };

function RunInput({ entry, problemOf }: RunInputProps) {
  const { callables, chosen } = entry;
  return (
    <>
      {callables.length > 1 && (
        <Select
          label={say("function")}
          allowDeselect={false}
          searchable
          data={callables.map(({ name }) => name)}
          value={chosen?.name ?? null}
          onChange={(name) => name && entry.choose(name)}
        />
      )}
      {entry.isJson ? (
        <JsonField
          key={`json-${chosen?.name}`}
          label={say("inputJson")}
          value={entry.values}
          onChange={(value) => entry.setValues((value ?? {}) as JsonValues)}
          onValidity={entry.setValid}
        />
      ) : (
        <SchemaForm
          key={`form-${chosen?.name}`}
          fields={entry.fields}
          values={entry.values}
          problemOf={problemOf}
          onChange={entry.setValues}
          onValidity={(_, isValid) => entry.setValid(isValid)}
        />
      )}
    </>
  );
}
