import { createAddressReader, readTextUpTo, readTrueFlag } from "../../shared/list/address";

/** `differences` leaves out what every role may, or none. */
export type RoleFilters = { search?: string; area?: string; differences?: boolean };

/** Read the filters of the matrix from the address; what does not belong there is left out. */
export const readRoleFilters = createAddressReader<RoleFilters>({
  search: readTextUpTo(100),
  area: readTextUpTo(100),
  differences: readTrueFlag,
});
