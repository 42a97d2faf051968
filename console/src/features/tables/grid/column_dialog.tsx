import { Button, Checkbox, Modal, Select, TagsInput, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { general } from "../../../shared/i18n/general";
import { createTranslator } from "../../../shared/i18n/words";
import { ProblemNote } from "../../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../../shared/submit_handler";
import { useFieldProblems } from "../../../shared/use_fields";
import { COLUMN_TYPES, columnTypeName } from "../column_type";
import {
  addTableColumn,
  type ColumnTypeName,
  changeColumn,
  type DataTable,
  type NewColumn,
  type TableColumn,
  tablesQuery,
  useTableChange,
} from "../queries";
import en from "../words.en.json";
import { ConversionPreview } from "./conversion_preview";

const say = createTranslator(en, "features/tables");
const FIELDS = ["name", "type", "options", "table_id", "default", "unique", "indexed", "required"] as const;
type Draft = Pick<NewColumn, "name" | "type" | "required" | "unique" | "indexed"> & {
  options: string[];
  table_id: string | null;
};

type ColumnDialogProps = {
  table: DataTable;
  /** The column to change; without one, a new one is added. */
  column?: TableColumn;
  position?: number;
  onClose: () => void;
};

const hasOptions = (type: ColumnTypeName) => type === "select" || type === "multi_select";

/** What of a draft is sent: only what belongs to its type. */
const trimDraft = (draft: Draft) => ({
  name: draft.name.trim(),
  type: draft.type,
  required: draft.required,
  unique: draft.unique,
  indexed: draft.indexed,
  ...(hasOptions(draft.type) ? { options: draft.options } : {}),
  ...(draft.type === "reference" ? { table_id: draft.table_id } : {}),
});

/** A new column, or the name, type and rules of one that there is. A new type is tried with all rows first. */
export function ColumnDialog({ table, column, position, onClose }: ColumnDialogProps) {
  const [draft, setDraft] = useState<Draft>({
    name: column?.name ?? "",
    type: column?.type ?? "text",
    required: column?.required ?? false,
    unique: column?.unique ?? false,
    indexed: column?.indexed ?? false,
    options: [...(column?.options ?? [])],
    table_id: column?.table_id ?? null,
  });
  const save = useTableChange(
    (body: ReturnType<typeof trimDraft>): Promise<unknown> =>
      column
        ? changeColumn({ id: table.id, columnId: column.id, changes: body })
        : addTableColumn({ id: table.id, ...body, position: position ?? null }),
  );
  const check = useMutation({
    mutationFn: (body: ReturnType<typeof trimDraft>) =>
      changeColumn({ id: table.id, columnId: column?.id ?? "", isDry: true, changes: body }),
  });
  const { form, rest, problemOf } = useFieldProblems(save.error, FIELDS);
  const isRefused = asApiError(save.error ?? "").code === "cannot_convert";
  const changeDraft = (changes: Partial<Draft>) => {
    const next = { ...draft, ...changes };
    setDraft(next);
    check.reset();
    const isReady = !hasOptions(next.type) || next.options.length > 0;
    if (column && column.type !== next.type && isReady) check.mutate(trimDraft(next));
  };
  const submit = createSubmitHandler(async () => {
    await save.mutateAsync(trimDraft(draft));
    onClose();
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={column ? say("changeColumnTitle", { name: column.name }) : say("newColumnTitle")}
      size={460}
    >
      <form className="stack g16" ref={form} onSubmit={submit}>
        <ProblemNote>{isRefused ? "" : rest}</ProblemNote>
        <ColumnFields draft={draft} problemOf={problemOf} onChange={changeDraft} />
        <ConversionPreview
          error={check.error ?? (isRefused ? save.error : null)}
          isBusy={check.isPending}
          isFine={check.isSuccess}
          count={table.row_count}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!draft.name.trim() || Boolean(check.error)}>
            {say(column ? "saveColumn" : "addColumn")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

type FieldsProps = {
  draft: Draft;
  problemOf: (name: (typeof FIELDS)[number]) => string | undefined;
  onChange: (changes: Partial<Draft>) => void;
};

function ColumnFields({ draft, problemOf, onChange }: FieldsProps) {
  return (
    <>
      <TextInput
        label={say("name")}
        description={say("columnNameHint")}
        data-autofocus
        withAsterisk
        error={problemOf("name")}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Select
        label={say("type")}
        allowDeselect={false}
        error={problemOf("type")}
        data={COLUMN_TYPES.map((value) => ({ value, label: columnTypeName(value) }))}
        value={draft.type}
        onChange={(value) => onChange({ type: COLUMN_TYPES.find((one) => one === value) ?? draft.type })}
      />
      {hasOptions(draft.type) && (
        <TagsInput
          label={say("options")}
          description={say("optionsHint")}
          error={problemOf("options")}
          value={draft.options}
          onChange={(options) => onChange({ options })}
        />
      )}
      {draft.type === "reference" && <TargetTable draft={draft} problemOf={problemOf} onChange={onChange} />}
      <div className="stack g8">
        {(["required", "unique", "indexed"] as const).map((rule) => (
          <Checkbox
            key={rule}
            label={say(rule)}
            description={say(`${rule}Hint`)}
            error={problemOf(rule)}
            checked={draft[rule]}
            onChange={(event) => onChange({ [rule]: event.currentTarget.checked })}
          />
        ))}
      </div>
    </>
  );
}

function TargetTable({ draft, problemOf, onChange }: FieldsProps) {
  const tables = useQuery(tablesQuery({}));
  return (
    <Select
      label={say("targetTable")}
      searchable
      error={problemOf("table_id")}
      data={(tables.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={draft.table_id}
      onChange={(table_id) => onChange({ table_id })}
    />
  );
}
