import Plus from "icon:plus";
import X from "icon:x";
import { ActionIcon, Autocomplete, Button, Select, TextInput } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import style from "../events.module.css";
import en from "../words.en.json";
import { COMPARISONS, type ConditionRow, emptyCondition, findRowProblem } from "./condition_rows";

const say = createTranslator(en, "features/events");

type Props = { rows: ConditionRow[]; paths: string[]; onChange: (rows: ConditionRow[]) => void };

/** Conditions that read as a sentence: where this is that, and … */
export function ConditionFields({ rows, paths, onChange }: Props) {
  const changeRow = (key: number, change: Partial<ConditionRow>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...change } : row)));
  const describeProblem = (row: ConditionRow) => {
    const problem = findRowProblem(rows, row);
    return problem && say(problem);
  };
  return (
    <div className={`card ${style.conditions}`}>
      {rows.map((row, place) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in every browser
        <div
          key={row.key}
          className={style.condition}
          role="group"
          aria-label={say("conditionAt", { place: place + 1 })}
        >
          <span className="t-12 t-3">{say(place ? "and" : "where")}</span>
          <Autocomplete
            size="xs"
            aria-label={say("field")}
            maxDropdownHeight={240}
            data={paths}
            error={describeProblem(row)}
            value={row.path}
            onChange={(path) => changeRow(row.key, { path })}
          />
          <Select
            size="xs"
            aria-label={say("comparison")}
            allowDeselect={false}
            data={COMPARISONS.map((value) => ({ value, label: say(`is_${value}`) }))}
            value={row.comparison}
            onChange={(chosen) => changeRow(row.key, { comparison: COMPARISONS.find((one) => one === chosen) ?? "eq" })}
          />
          {row.comparison === "exists" ? (
            <Select
              size="xs"
              aria-label={say("value")}
              allowDeselect={false}
              data={[
                { value: "true", label: say("yes") },
                { value: "false", label: say("no") },
              ]}
              value={row.value === "false" ? "false" : "true"}
              onChange={(value) => changeRow(row.key, { value: value ?? "true" })}
            />
          ) : (
            <TextInput
              size="xs"
              aria-label={say("value")}
              value={row.value}
              onChange={(event) => changeRow(row.key, { value: event.currentTarget.value })}
            />
          )}
          <ActionIcon
            size={24}
            aria-label={say("removeCondition", { place: place + 1 })}
            onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
          >
            <X size={13} />
          </ActionIcon>
        </div>
      ))}
      <Button
        size="xs"
        variant="subtle"
        leftSection={<Plus size={13} />}
        style={{ alignSelf: "flex-start" }}
        onClick={() => onChange([...rows, emptyCondition()])}
      >
        {say("addCondition")}
      </Button>
    </div>
  );
}
