import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { meQuery, tenantQuery, usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { ChoiceChip, includeChosenChoice } from "../../shared/list/choice_chip";
import { useNamesById } from "../../shared/people/names";
import type { FilterProps } from "./filter_fields";
import { conversationPeopleQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");
const SEARCH_WAIT_MS = 250;

type PersonProps = FilterProps & {
  /** People of the rows on the page, for a caller who may not list all people. */
  shownIds: readonly string[];
};

export function PersonChip({ filters, onChange, shownIds }: PersonProps) {
  const { person } = filters;
  const mayList = usePermissionCheck()("admin:users");
  const [text, setText] = useState("");
  const [isAsked, setAsked] = useState(false);
  const [search] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const { data: me } = useQuery(meQuery);
  const { data: tenant } = useQuery(tenantQuery);
  const { data: found } = useQuery({
    ...conversationPeopleQuery(tenant?.id, search),
    enabled: isAsked && mayList && Boolean(tenant),
  });
  const ids = [...new Set([me?.id ?? "", ...shownIds, person ?? ""])].filter(Boolean);
  const nameOf = useNamesById(ids);
  const known = ids.map((id) => ({ value: id, label: id === me?.id ? say("myself") : (nameOf(id) ?? id) }));
  const others = (found?.users ?? []).map((one) => ({
    value: one.id,
    label: `${one.first_name} ${one.last_name}`.trim() || one.email,
  }));
  const wanted = text.trim().toLowerCase();
  const choices =
    mayList && found
      ? includeChosenChoice(
          others,
          text,
          known.find((one) => one.value === person),
        )
      : known.filter((one) => one.label.toLowerCase().includes(wanted));
  return (
    <ChoiceChip
      label={say("person")}
      value={person}
      choices={choices}
      search={{ label: say("findPerson"), text, nothing: say("noMatchTitle"), onChange: setText }}
      onOpen={() => setAsked(true)}
      onChange={(value) => onChange({ person: value })}
    />
  );
}
