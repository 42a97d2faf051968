import Check from "icon:check";
import FileSpreadsheet from "icon:file-spreadsheet";
import { Button, FileButton, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { formatBytes } from "../../../shared/byte_size";
import { ConfirmDialog } from "../../../shared/confirm";
import { PageBar } from "../../../shared/frame/bar";
import { createTranslator } from "../../../shared/i18n/words";
import { RefusalNote } from "../../../shared/patterns/refusal_note";
import { Sheet } from "../../../shared/patterns/sheet";
import { PermissionGate } from "../../../shared/states/permission_gate";
import { FailureState, RowSkeletons } from "../../../shared/states/states";
import { type DataTable, type TableImport, tableQuery, useTableChange } from "../queries";
import en from "../words.en.json";
import { CheckResult } from "./check_result";
import { type ColumnGuess, guessMapping, toColumnMapping } from "./guess_mapping";
import style from "./import.module.css";
import { ImportEndSheet } from "./import_end";
import { MappingCard } from "./mapping_card";
import { checkImport, followRun, type ImportMode, type ImportPlan, startImport } from "./runs";

const say = createTranslator(en, "features/tables");
const ACCEPTED = ".csv,.json,.xlsx";

/** A file goes into a table in three steps: which file, which column goes where, and what came of it. */
export default function ImportRowsPage() {
  const { tableId } = useParams({ from: "/frame/tables/$tableId/import" });
  const { data: table, error, refetch } = useQuery(tableQuery(tableId));
  return (
    <>
      <PageBar
        trail={[
          { label: say("title"), to: "/tables" },
          { label: table?.name ?? "…", to: `/tables/${tableId}` },
        ]}
        title={say("import")}
        isThere={false}
      />
      <PermissionGate permission="data_tables:write">
        {error && !table && <FailureState error={error} onRetry={() => void refetch()} />}
        {!error && !table && <RowSkeletons columns={[120, 300]} />}
        {table && <ImportSteps table={table} />}
      </PermissionGate>
    </>
  );
}

const STEPS = ["stepFile", "stepColumns", "stepImport"] as const;

const StepList = ({ at }: { at: number }) => (
  <ol className={style.steps} aria-label={say("steps")}>
    {STEPS.map((step, number) => (
      <li
        key={step}
        className={style.step}
        data-done={number < at || undefined}
        aria-current={number === at ? "step" : undefined}
      >
        <i>{number < at ? <Check size={11} /> : number + 1}</i> {say(step)}
      </li>
    ))}
  </ol>
);

function ImportSteps({ table }: { table: DataTable }) {
  const [file, setFile] = useState<File | null>(null);
  const [end, setEnd] = useState<TableImport>();
  return (
    <>
      <StepList at={end ? 2 : file ? 1 : 0} />
      {end ? (
        <ImportEndSheet table={table} run={end} />
      ) : file ? (
        <ColumnStep
          key={`${file.name} ${file.size} ${file.lastModified}`}
          table={table}
          file={file}
          onFile={setFile}
          onEnd={setEnd}
        />
      ) : (
        <FileStep onFile={setFile} />
      )}
    </>
  );
}

const FileStep = ({ onFile }: { onFile: (file: File | null) => void }) => (
  <Sheet width={640}>
    {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shorter way; the button does the same */}
    <div
      className={style.drop}
      role="presentation"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        onFile(event.dataTransfer.files[0] ?? null);
      }}
    >
      <span className="kind k-know">
        <FileSpreadsheet size={18} />
      </span>
      <p className="t-500">{say("dropFile")}</p>
      <p className="t-13 t-3">{say("fileHint")}</p>
      <FileButton onChange={onFile} accept={ACCEPTED}>
        {(props) => <Button {...props}>{say("chooseFile")}</Button>}
      </FileButton>
    </div>
  </Sheet>
);

type StepProps = {
  table: DataTable;
  file: File;
  onFile: (file: File | null) => void;
  onEnd: (run: TableImport) => void;
};

/** Everything that will be wrong is counted before anything is stored. */
function ColumnStep({ table, file, onFile, onEnd }: StepProps) {
  const [edited, setEdited] = useState<ColumnGuess[]>();
  const [mode, setMode] = useState<ImportMode>("append");
  const keys = table.columns.filter(({ unique, indexed }) => unique || indexed);
  const [match, setMatch] = useState((keys[0] ?? table.columns[0])?.name ?? "");
  const [isAsking, setAsking] = useState(false);
  const first = useQuery(checkQuery(table.id, { file, mode: "append", match: "" }));
  const sample = first.data?.sample;
  const guesses = edited ?? (sample ? guessMapping(sample, table.columns) : undefined);
  const plan: ImportPlan = { file, mapping: guesses && toColumnMapping(guesses), mode, match };
  const isMapped = Boolean(guesses?.some(({ to }) => to));
  const check = useQuery({ ...checkQuery(table.id, plan), enabled: isMapped });
  const { run, progress, isStarted } = useImportRun(table.id, plan);
  const startRun = () => {
    setAsking(false);
    run.mutate(undefined, { onSuccess: onEnd });
  };
  const ready = check.data?.status === "completed" ? check.data : undefined;
  const taken = (ready?.rows_created ?? 0) + (ready?.rows_updated ?? 0);
  return (
    <>
      <Sheet width={1000}>
        <FileHead file={file} first={first.data} onFile={onFile} />
        {first.error && <RefusalNote error={first.error} />}
        {first.isPending && <RowSkeletons rows={5} columns={[30, 160, 160, 160]} />}
        {first.data && !sample && <RefusalNote error={new Error(String(first.data.error?.message ?? ""))} />}
        {sample && guesses && (
          <>
            <MappingCard sample={sample} guesses={guesses} columns={table.columns} onChange={setEdited} />
            <RefusalNote error={check.error ?? run.error} />
            <CheckResult run={check.data} isBusy={check.isFetching} isMapped={isMapped} table={table} />
          </>
        )}
      </Sheet>
      <div className={style.foot}>
        <ModeChoice
          {...{ mode, match, columns: table.columns.map(({ name }) => name) }}
          onMode={setMode}
          onMatch={setMatch}
        />
        <span className="push row g8">
          <Button
            variant="default"
            renderRoot={(props) => <Link {...props} to="/tables/$tableId" params={{ tableId: table.id }} />}
          >
            {say("back")}
          </Button>
          <Button
            disabled={!taken || check.isFetching}
            loading={run.isPending}
            onClick={mode === "replace" && table.row_count > 0 && !isStarted() ? () => setAsking(true) : startRun}
          >
            {run.isPending
              ? say("importing", { count: progress?.rows_read ?? 0 })
              : say("importRows", { count: taken })}
          </Button>
        </span>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={say("replaceTitle", { name: table.name })}
          action={say("importRows", { count: taken })}
          onClose={() => setAsking(false)}
          onConfirm={startRun}
        >
          <p>
            {say("replaces", { count: table.row_count })} {say("replacesForGood")}
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

type HeadProps = { file: File; first: TableImport | undefined; onFile: (file: File | null) => void };

const FileHead = ({ file, first, onFile }: HeadProps) => (
  <div className="row g12 wrap">
    <span className="kind k-know">
      <FileSpreadsheet size={16} />
    </span>
    <div className="stack grow">
      <span className="t-500 cut">{file.name}</span>
      <span className="t-12 t-3 num">
        {first?.sample
          ? say("fileFacts", { rows: first.rows_read, columns: first.sample.columns.length })
          : say("reading")}{" "}
        · {formatBytes(file.size)}
      </span>
    </div>
    <FileButton onChange={onFile} accept={ACCEPTED}>
      {(props) => (
        <Button {...props} size="xs" variant="default">
          {say("anotherFile")}
        </Button>
      )}
    </FileButton>
  </div>
);

/** The import itself. One whose end was not seen is followed again, not started twice. */
function useImportRun(tableId: string, plan: ImportPlan) {
  const [progress, setProgress] = useState<TableImport>();
  const runId = useRef<string>(undefined);
  const run = useTableChange(async () => {
    const signal = new AbortController().signal;
    runId.current ??= await startImport(tableId, plan, false, signal);
    return followRun(tableId, runId.current, { isDry: false, signal, onStep: setProgress });
  });
  return { run, progress, isStarted: () => runId.current !== undefined };
}

const checkQuery = (tableId: string, plan: ImportPlan) => ({
  queryKey: ["table-checks", tableId, plan.file.name, plan.file.size, plan.mapping, plan.mode, plan.match],
  queryFn: ({ signal }: { signal: AbortSignal }) => checkImport(tableId, plan, signal),
  retry: false,
  gcTime: 0,
});

type ModeProps = {
  mode: ImportMode;
  match: string;
  columns: string[];
  onMode: (mode: ImportMode) => void;
  onMatch: (match: string) => void;
};

const ModeChoice = ({ mode, match, columns, onMode, onMatch }: ModeProps) => (
  <span className="row g8 wrap">
    <SegmentedControl
      aria-label={say("ifThere")}
      value={mode}
      onChange={(value) => onMode(value as ImportMode)}
      data={[
        { value: "append", label: say("mode_append") },
        { value: "upsert", label: say("mode_upsert") },
        { value: "replace", label: say("mode_replace") },
      ]}
    />
    {mode === "upsert" && (
      <Select
        size="xs"
        aria-label={say("match")}
        allowDeselect={false}
        data={columns}
        value={match}
        onChange={(value) => onMatch(value ?? match)}
      />
    )}
  </span>
);
