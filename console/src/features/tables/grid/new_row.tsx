import { Button, Modal, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { general } from "../../../shared/i18n/general";
import { createTranslator } from "../../../shared/i18n/words";
import { ProblemNote } from "../../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../../shared/submit_handler";
import { useFieldProblems } from "../../../shared/use_fields";
import { addTableRow, type DataTable, type TableColumn, useTableChange } from "../queries";
import en from "../words.en.json";
import { parseCellText } from "./cell_text";

const say = createTranslator(en, "features/tables");

/** Columns without which no row is taken, and which fill themselves with nothing. */
export const listNeededColumns = (table: DataTable) =>
  table.columns.filter((column) => column.required && column.default === null);

type NewRowProps = { table: DataTable; columns: TableColumn[]; onClose: () => void };

/** The values that a new row must have; the rest is written in the grid. */
export function NewRowDialog({ table, columns, onClose }: NewRowProps) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const add = useTableChange((values: Record<string, unknown>) => addTableRow(table.id, values));
  const { form, rest, problemOf } = useFieldProblems(
    add.error,
    columns.map(({ name }) => name),
  );
  const submit = createSubmitHandler(async () => {
    await add.mutateAsync(
      Object.fromEntries(columns.map((column) => [column.name, parseCellText(texts[column.name] ?? "", column)])),
    );
    onClose();
  });
  return (
    <Modal opened onClose={onClose} title={say("newRowTitle")} size={420}>
      <form className="stack g16" ref={form} onSubmit={submit}>
        <ProblemNote>{rest}</ProblemNote>
        {columns.map((column) => {
          const field = {
            label: column.name,
            error: problemOf(column.name),
            value: texts[column.name] ?? "",
          };
          const setText = (text: string) => setTexts({ ...texts, [column.name]: text });
          return column.type === "select" ? (
            <Select key={column.id} {...field} data={[...column.options]} onChange={(text) => setText(text ?? "")} />
          ) : (
            <TextInput
              key={column.id}
              {...field}
              type={column.type === "date" ? "date" : "text"}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          );
        })}
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={add.isPending}>
            {say("addRow")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
