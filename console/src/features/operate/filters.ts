import { createAddressReader, readOneOf, readPageNumber, readTextUpTo } from "../../shared/list/address";

export const JOB_STATUSES = ["failed", "waiting", "running"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
export const PLANS = ["free", "pro", "team", "enterprise"] as const;
export type PlanName = (typeof PLANS)[number];

/** `id` is the row whose panel is open. Without `status`, failed jobs are listed: they are what needs somebody. */
export type JobFilters = { status?: "all" | JobStatus; queue?: string; page?: number; id?: string };
export type OrganizationFilters = { search?: string; plan?: PlanName; page?: number; id?: string };

export const readJobFilters = createAddressReader<JobFilters>({
  status: readOneOf(["all", "waiting", "running"]),
  queue: readTextUpTo(100),
  id: readTextUpTo(100),
  page: readPageNumber,
});

export const readOrganizationFilters = createAddressReader<OrganizationFilters>({
  search: readTextUpTo(100),
  plan: readOneOf(PLANS),
  id: readTextUpTo(100),
  page: readPageNumber,
});
