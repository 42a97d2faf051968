import { createAddressReader, readOneOf, readTextUpTo, readTrueFlag } from "../../shared/list/address";

export const SHOWN = ["usable", "all"] as const;
export type ModelFilters = { search?: string; show?: (typeof SHOWN)[number]; add?: boolean };

export const readModelFilters = createAddressReader<ModelFilters>({
  search: readTextUpTo(200),
  show: readOneOf(SHOWN),
  add: readTrueFlag,
});
