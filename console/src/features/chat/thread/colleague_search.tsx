import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { Avatar } from "../../../shared/marks/avatar";
import { colleaguesQuery } from "../../../shared/people/names";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");
const SEARCH_WAIT_MS = 250;

type Props = {
  hiddenIds: string[];
  /** A choice is being stored; the next one waits. */
  isBusy: boolean;
  onChoose: (id: string) => void;
};

/** Finds a colleague by name. */
export function ColleagueSearch({ hiddenIds, isBusy, onChoose }: Props) {
  const [text, setText] = useState("");
  const [search] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const { data, isFetching } = useQuery(colleaguesQuery(search));
  const list = useCombobox();
  const found = (data ?? []).filter(({ id }) => !hiddenIds.includes(id));
  const isAsked = search.length > 1 && search === text.trim();
  return (
    <Combobox
      store={list}
      withinPortal={false}
      onOptionSubmit={(id) => {
        onChoose(id);
        setText("");
        list.closeDropdown();
      }}
    >
      <Combobox.Target>
        <TextInput
          size="xs"
          aria-label={say("findColleague")}
          placeholder={say("findColleague")}
          value={text}
          readOnly={isBusy}
          onChange={(event) => {
            setText(event.currentTarget.value);
            list.openDropdown();
            list.updateSelectedOptionIndex();
          }}
          onBlur={() => list.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={!isAsked || isBusy}>
        <Combobox.Options aria-label={say("colleagues")}>
          {found.map(({ id, name }) => (
            <Combobox.Option key={id} value={id}>
              <span className="row g8">
                <Avatar name={name} />
                {name}
              </span>
            </Combobox.Option>
          ))}
          {isAsked && !isFetching && found.length === 0 && <Combobox.Empty>{say("nobodyFound")}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
