import Plus from "icon:plus";
import X from "icon:x";
import { Modal } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import { FilterChipFrame, FilterChipText } from "../../../shared/list/filter_chip";
import { SearchField } from "../../../shared/list/search_field";
import type { GridView } from "../filters";
import type { TableColumn } from "../queries";
import en from "../words.en.json";
import { AddConditionChip, ConditionForm } from "./add_condition";
import { describeCondition } from "./condition_words";

const say = createTranslator(en, "features/tables");
type ToolbarProps = {
  columns: readonly TableColumn[];
  view: GridView;
  onChange: (changes: Partial<GridView>) => void;
  onAddColumn?: () => void;
};

/** What narrows a grid, read as a sentence: each chip is a column and what holds for it. */
export function GridToolbar({ columns, view, onChange, onAddColumn }: ToolbarProps) {
  const where = view.where ?? [];
  const removeCondition = (at: number) => onChange({ where: where.filter((_, place) => place !== at) });
  const sorted = view.sort?.replace(/^-/, "");
  return (
    <div className="toolbar">
      <SearchField label={say("findRows")} value={view.search} onChange={(search) => onChange({ search })} />
      {where.map((condition, at) => (
        <FilterChipFrame
          key={`${condition.column} ${condition.operator} ${String(condition.value)}`}
          label={condition.column}
          isSet
          onClear={() => removeCondition(at)}
        >
          <span className="chip set">
            <FilterChipText
              label={condition.column}
              value={describeCondition(
                condition,
                columns.find(({ name }) => name === condition.column),
              )}
            />
          </span>
        </FilterChipFrame>
      ))}
      {columns.length > 0 && (
        <AddConditionChip columns={columns} onAdd={(added) => onChange({ where: [...where, added] })} />
      )}
      {onAddColumn && (
        <button type="button" className="chip" onClick={onAddColumn}>
          <Plus size={13} /> {say("newColumn")}
        </button>
      )}
      {sorted && (
        <button type="button" className="chip set push" onClick={() => onChange({ sort: undefined })}>
          {say(view.sort?.startsWith("-") ? "sortedDown" : "sortedUp", { name: sorted })}
          <X size={12} aria-label={say("unsort")} />
        </button>
      )}
    </div>
  );
}

type DialogProps = { column: TableColumn; columns: readonly TableColumn[]; onClose: () => void } & Pick<
  ToolbarProps,
  "view" | "onChange"
>;

/** The same fields, opened from the menu of a column. */
export const ConditionDialog = ({ column, columns, view, onChange, onClose }: DialogProps) => (
  <Modal opened onClose={onClose} title={say("filterByIt")} size={320}>
    <ConditionForm
      columns={columns}
      initialColumn={column.name}
      onAdd={(added) => {
        onChange({ where: [...(view.where ?? []), added] });
        onClose();
      }}
    />
  </Modal>
);
