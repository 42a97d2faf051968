import Plus from "icon:plus";
import { Button, Combobox, useCombobox } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";
import style from "./draft.module.css";

const say = createTranslator(en, "features/agents");
export type MenuChoice = { id: string; name: string; note?: string; isDisabled?: boolean };
type Props = {
  label: string;
  find: string;
  choices: MenuChoice[] | undefined;
  none: ReactNode;
  /** The last choice, for what is not there yet. */
  create?: { label: string; onCreate: () => void };
  onSearch?: (text: string) => void;
  onOpen?: () => void;
  onChoose: (id: string) => void;
};

/** No id of an object is like this. */
const CREATE = "+";

/** A button that opens a list to choose from, with a search over names and notes. */
export function AddMenu({ label, find, choices, none, create, onSearch, onOpen, onChoose }: Props) {
  const [text, setText] = useState("");
  const combobox = useCombobox({
    onDropdownOpen: () => {
      onOpen?.();
      combobox.focusSearchInput();
    },
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      combobox.focusTarget();
      setText("");
      onSearch?.("");
    },
  });
  const wanted = text.trim().toLowerCase();
  const shown = choices?.filter(
    (one) => !wanted || `${one.name} ${one.note ?? ""} ${one.id}`.toLowerCase().includes(wanted),
  );
  return (
    <Combobox
      store={combobox}
      position="bottom-end"
      width={340}
      onOptionSubmit={(id) => {
        if (id === CREATE) create?.onCreate();
        else onChoose(id);
        combobox.closeDropdown();
      }}
    >
      <Combobox.Target withAriaAttributes={false} withExpandedAttribute={false}>
        <Button
          size="xs"
          variant="subtle"
          leftSection={<Plus size={14} />}
          aria-haspopup="listbox"
          aria-expanded={combobox.dropdownOpened}
          onClick={() => combobox.toggleDropdown()}
        >
          {label}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown className={style.menu}>
        <Combobox.Search
          value={text}
          placeholder={find}
          aria-label={find}
          onChange={(event) => {
            setText(event.currentTarget.value);
            onSearch?.(event.currentTarget.value);
            combobox.updateSelectedOptionIndex();
          }}
        />
        <Combobox.Options mah={280} className={style.menuOptions} aria-label={label}>
          {shown?.map((one) => (
            <Combobox.Option key={one.id} value={one.id} disabled={one.isDisabled}>
              <span className="stack">
                <span className="t-13 cut">{one.name}</span>
                {one.note && <span className="t-12 t-3 cut">{one.note}</span>}
              </span>
            </Combobox.Option>
          ))}
          {shown?.length === 0 && <Combobox.Empty>{wanted ? say("noMatchTitle") : none}</Combobox.Empty>}
          {!shown && <Combobox.Empty>…</Combobox.Empty>}
          {create && (
            <Combobox.Option value={CREATE}>
              <span className="row g6 t-13">
                <Plus size={13} /> {create.label}
              </span>
            </Combobox.Option>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
