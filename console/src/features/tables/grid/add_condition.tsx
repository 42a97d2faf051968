import Filter from "icon:list-filter";
import { Button, Popover, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import type { RowCondition, RowOperator } from "../filters";
import type { TableColumn } from "../queries";
import en from "../words.en.json";
import { parseCellText } from "./cell_text";
import { listOperators, needsComparedValue, operatorName } from "./condition_words";

const say = createTranslator(en, "features/tables");
type AddConditionProps = { columns: readonly TableColumn[]; onAdd: (condition: RowCondition) => void };

/** The chip that adds a filter: a column, how it is compared, and with what. */
export function AddConditionChip({ columns, onAdd }: AddConditionProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus position="bottom-start" width={260} shadow="md">
      <Popover.Target>
        <button type="button" className="chip" onClick={() => setOpen(!isOpen)}>
          <Filter size={13} /> {say("filter")}
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label={say("filter")}>
        <ConditionForm
          columns={columns}
          onAdd={(condition) => {
            setOpen(false);
            onAdd(condition);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

type FormProps = AddConditionProps & { initialColumn?: string };

export function ConditionForm({ columns, initialColumn, onAdd }: FormProps) {
  const [name, setName] = useState(initialColumn ?? columns[0]?.name ?? "");
  const column = columns.find((one) => one.name === name);
  const operators = column ? listOperators(column.type) : [];
  const [chosen, setChosen] = useState<RowOperator>();
  const operator = chosen && operators.includes(chosen) ? chosen : operators[0];
  const [text, setText] = useState("");
  if (!column || !operator) return null;
  const isComplete = !needsComparedValue(operator) || Boolean(text.trim());
  const addCondition = () => {
    if (!isComplete) return;
    const type = column.type === "multi_select" ? "text" : column.type;
    const value = needsComparedValue(operator) ? parseCellText(text, { type }) : undefined;
    onAdd({ column: name, operator, value: value as RowCondition["value"] });
  };
  return (
    <form
      className="stack g8"
      onSubmit={(event) => {
        event.preventDefault();
        addCondition();
      }}
    >
      <Select
        size="xs"
        label={say("column")}
        allowDeselect={false}
        searchable={columns.length > 8}
        comboboxProps={{ withinPortal: false }}
        data={columns.map((one) => one.name)}
        value={name}
        onChange={(value) => setName(value ?? name)}
      />
      <Select
        size="xs"
        label={say("comparison")}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        data={operators.map((one) => ({ value: one, label: operatorName(one, column.type) }))}
        value={operator}
        onChange={(value) => setChosen(operators.find((one) => one === value))}
      />
      {needsComparedValue(operator) && <ComparedValue column={column} text={text} onText={setText} />}
      <Button size="xs" type="submit" disabled={!isComplete}>
        {say("addFilter")}
      </Button>
    </form>
  );
}

type ValueProps = { column: TableColumn; text: string; onText: (text: string) => void };

function ComparedValue({ column, text, onText }: ValueProps) {
  const choices =
    column.type === "boolean"
      ? [
          { value: "true", label: say("yes") },
          { value: "false", label: say("no") },
        ]
      : column.options.map((value) => ({ value, label: value }));
  if (choices.length)
    return (
      <Select
        size="xs"
        label={say("value")}
        comboboxProps={{ withinPortal: false }}
        data={choices}
        value={text || null}
        onChange={(value) => onText(value ?? "")}
      />
    );
  return (
    <TextInput
      size="xs"
      label={say("value")}
      type={column.type === "date" ? "date" : column.type === "datetime" ? "datetime-local" : "text"}
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  );
}
