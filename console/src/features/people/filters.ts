import { createAddressReader, readOneOf, readPageNumber, readTextUpTo } from "../../shared/list/address";
import { ROLES, type RoleKey } from "../../shared/people/role_keys";

export const USER_STATES = ["active", "inactive", "waiting"] as const;
export type UserState = (typeof USER_STATES)[number];
/** `person` is whose panel is open. */
export type PeopleFilters = { search?: string; role?: RoleKey; state?: UserState; page?: number; person?: string };

/** Read the filters of the list from the address; what does not belong there is left out. */
export const readPeopleFilters = createAddressReader<PeopleFilters>({
  search: readTextUpTo(100),
  role: readOneOf(ROLES),
  state: readOneOf(USER_STATES),
  page: readPageNumber,
  person: readTextUpTo(64),
});
