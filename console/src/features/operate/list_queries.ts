import type { JobFilters, OrganizationFilters } from "./filters";

/** What the filters ask of the server. */
export const toJobQuery = ({ status = "failed", queue, page }: JobFilters) => ({
  page: page ?? 1,
  ...(status === "all" ? {} : { status }),
  ...(queue ? { queue } : {}),
});

export const toOrganizationQuery = ({ search, plan, page }: OrganizationFilters) => ({
  page: page ?? 1,
  sort: "name",
  ...(search ? { search } : {}),
  ...(plan ? { plan } : {}),
});
