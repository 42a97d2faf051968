import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { meQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { createNameReader } from "./name_reader";
import en from "./words.en.json";

const say = createTranslator(en, "shared/people");
const readName = createNameReader(async (ids) => {
  const { data } = await unwrapData(api.GET("/users/names", { params: { query: { ids: ids.join(",") } } }));
  return data;
});

/** The name that belongs to an id of a person or a program; null if nobody has it any more. */
const nameQuery = (id: string) =>
  queryOptions({
    queryKey: ["users", "names", id],
    queryFn: () => readName(id),
    enabled: Boolean(id),
    staleTime: 300_000,
    retry: false,
  });

/** The name of who did something, "You" for oneself; undefined while it is not known. */
export function useKnownName(id: string): string | undefined {
  const { data: me } = useQuery(meQuery);
  const { data: name } = useQuery({ ...nameQuery(id), enabled: Boolean(id) && Boolean(me) && me?.id !== id });
  return me?.id === id ? say("you") : (name ?? undefined);
}

export const usePersonName = (id: string): string => useKnownName(id) ?? say("somebody");

/** The names of several, by id: all that one page shows are asked for at once. */
export function useNamesById(ids: readonly string[]): (id: string) => string | undefined {
  const wanted = [...new Set(ids)];
  const found = useQueries({ queries: wanted.map((id) => nameQuery(id)) });
  return (id) => found[wanted.indexOf(id)]?.data ?? undefined;
}

const MIN_SEARCH_LENGTH = 2;

/** The people of the organization whose name holds a text, for everyone who belongs to it. */
export const colleaguesQuery = (search: string) =>
  queryOptions({
    queryKey: ["users", "names", "search", search],
    queryFn: async () => (await unwrapData(api.GET("/users/names", { params: { query: { search } } }))).data,
    enabled: search.length >= MIN_SEARCH_LENGTH,
    staleTime: 60_000,
  });
