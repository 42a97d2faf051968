import Check from "icon:check";
import { Combobox, useCombobox } from "@mantine/core";
import { FilterChipFrame, FilterChipText } from "./filter_chip";
import style from "./filter_chip.module.css";

export type Choice = { value: string; label: string };
/** The field above choices that the server finds. */
export type ChoiceSearch = { label: string; text: string; nothing: string; onChange: (text: string) => void };
type Props = {
  label: string;
  value?: string;
  choices: readonly Choice[];
  search?: ChoiceSearch;
  onOpen?: () => void;
  onChange: (value?: string) => void;
};

/** A filter that is one of several values; choosing the same again takes it back. */
export function ChoiceChip({ label, value, choices, search, onOpen, onChange }: Props) {
  const box = useCombobox({
    onDropdownOpen: () => {
      onOpen?.();
      if (search) box.focusSearchInput();
    },
    onDropdownClose: () => {
      box.resetSelectedOption();
      box.focusTarget();
      search?.onChange("");
    },
  });
  const choose = (chosen: string) => {
    box.closeDropdown();
    onChange(chosen === value ? undefined : chosen);
  };
  const chosen = value === undefined ? undefined : (choices.find((one) => one.value === value)?.label ?? value);
  return (
    <FilterChipFrame label={label} isSet={value !== undefined} onClear={() => onChange(undefined)}>
      <Combobox store={box} width={240} position="bottom-start" shadow="md" onOptionSubmit={choose}>
        <Combobox.Target targetType="button" withExpandedAttribute>
          <button
            type="button"
            aria-label={chosen ? `${label}: ${chosen}` : label}
            className={`chip ${chosen ? "set" : ""}`}
            onClick={() => box.toggleDropdown()}
          >
            <FilterChipText label={label} value={chosen} />
          </button>
        </Combobox.Target>
        <Combobox.Dropdown>
          {search && (
            <Combobox.Search
              aria-label={search.label}
              placeholder={search.label}
              value={search.text}
              onChange={(event) => search.onChange(event.currentTarget.value)}
            />
          )}
          <Combobox.Options aria-label={label} className={style.choices}>
            {choices.map((one) => (
              <Combobox.Option key={one.value} value={one.value} active={one.value === value}>
                <span className="row g8">
                  <span className="grow cut">{one.label}</span>
                  {one.value === value && <Check size={14} />}
                </span>
              </Combobox.Option>
            ))}
            {search && choices.length === 0 && <Combobox.Empty>{search.nothing}</Combobox.Empty>}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </FilterChipFrame>
  );
}

/** The chosen one is always there to take it back, unless somebody looks for another. */
export function includeChosenChoice(choices: Choice[], text: string, chosen: Choice | undefined): Choice[] {
  if (!chosen || text || choices.some((one) => one.value === chosen.value)) return choices;
  return [chosen, ...choices];
}
