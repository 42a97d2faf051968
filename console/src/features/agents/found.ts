import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";

const SEARCH_WAIT_MS = 250;
type Page = { data: unknown[]; pagination: { total: number } };

/** The first page of a list, and what a search finds in the rest of it, if there is a rest. */
export function useSearchedList<Found extends Page, Key extends QueryKey>(
  query: (search: string) => UseQueryOptions<Found, Error, Found, Key>,
  enabled: boolean,
) {
  const [search, setSearch] = useState("");
  const [settled] = useDebouncedValue(search.trim(), SEARCH_WAIT_MS);
  const all = useQuery({ ...query(""), enabled });
  const isPart = (all.data?.pagination.total ?? 0) > (all.data?.data.length ?? 0);
  const found = useQuery({
    ...query(settled),
    enabled: enabled && isPart && Boolean(settled),
    placeholderData: keepPreviousData,
  });
  const first = all.data?.data as Found["data"] | undefined;
  const rest = found.data?.data as Found["data"] | undefined;
  return { all: first, shown: isPart && settled ? rest : first, setSearch };
}
