import type { PeopleFilters } from "./filters";

export const hasPeopleFilters = ({ search, role, state }: PeopleFilters) => Boolean(search || role || state);

/** What the filters ask of the server; an account that waits is active, but not admitted yet. */
export const toUserQuery = ({ search, role, state, page }: PeopleFilters) => ({
  page: page ?? 1,
  ...(search ? { search } : {}),
  ...(role ? { role } : {}),
  ...(state === "waiting" ? { is_pending: true } : state ? { status: state, is_pending: false } : {}),
});
