import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import { createTranslator } from "../i18n/words";
import { ChoiceChip, includeChosenChoice } from "../list/choice_chip";
import { agentQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "shared/agent");
const SEARCH_WAIT_MS = 250;

/** Agents to choose from: the first of them, or those with this in their name. */
const agentChoicesQuery = (search: string) =>
  queryOptions({
    queryKey: ["agents", "choices", search],
    queryFn: () =>
      unwrapData(api.GET("/api/v1/agents", { params: { query: { per_page: 50, ...(search ? { search } : {}) } } })),
    staleTime: 300_000,
    placeholderData: keepPreviousData,
  });

type Props = { agent?: string; onChange: (agent?: string) => void };

/** One agent of all: the first are there to choose, the server finds the others by name. */
export function AgentChip({ agent, onChange }: Props) {
  const [text, setText] = useState("");
  const [isAsked, setAsked] = useState(false);
  const [search] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const { data: chosen } = useQuery({ ...agentQuery(agent ?? ""), enabled: Boolean(agent) });
  const { data: found } = useQuery({ ...agentChoicesQuery(search), enabled: isAsked });
  const choices = (found?.data ?? []).map((one) => ({ value: one.id, label: one.name }));
  return (
    <ChoiceChip
      label={say("agent")}
      value={agent}
      choices={includeChosenChoice(choices, text, agent ? { value: agent, label: chosen?.name ?? agent } : undefined)}
      search={{ label: say("findAgent"), text, nothing: say("noAgentFound"), onChange: setText }}
      onOpen={() => setAsked(true)}
      onChange={onChange}
    />
  );
}
