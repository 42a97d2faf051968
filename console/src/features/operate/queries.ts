import { keepPreviousData, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { tenantQuery } from "../../api/queries";
import type { components } from "../../api/schema";
import type { JobFilters, OrganizationFilters } from "./filters";
import { toJobQuery, toOrganizationQuery } from "./list_queries";

type Schemas = components["schemas"];
export type Overview = Schemas["OperateOut"];
export type QueueState = Schemas["QueueOut"];
export type QueuedJob = Schemas["QueuedJobOut"];
export type WaitingMail = Schemas["WaitingMailOut"];
export type Tenant = Schemas["TenantOut"];

export const ROWS_PER_PAGE = 50;
const MAX_NAMED = 100;

export const overviewQuery = queryOptions({
  queryKey: ["operate", "overview"],
  queryFn: () => unwrapData(api.GET("/api/v1/operate")),
});
export const jobsQuery = (filters: JobFilters) =>
  queryOptions({
    queryKey: ["operate", "jobs", toJobQuery(filters)],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/operate/jobs", {
          params: { query: { ...toJobQuery(filters), per_page: ROWS_PER_PAGE } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const waitingMailsQuery = (page = 1, perPage = ROWS_PER_PAGE) =>
  queryOptions({
    queryKey: ["operate", "mails", page, perPage],
    queryFn: () => unwrapData(api.GET("/api/v1/operate/outbox", { params: { query: { page, per_page: perPage } } })),
    placeholderData: keepPreviousData,
  });
export const organizationsQuery = (filters: OrganizationFilters, perPage = ROWS_PER_PAGE) =>
  queryOptions({
    queryKey: ["tenants", "list", perPage, toOrganizationQuery(filters)],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/tenants", {
          params: { query: { ...toOrganizationQuery(filters), per_page: perPage } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ["tenants", "one", id],
    queryFn: () => unwrapData(api.GET("/api/v1/tenants/{tenant_id}", { params: { path: { tenant_id: id } } })),
  });

/** The names of organizations by id; those beyond the first hundred stand for themselves. */
export function useOrganizationNames(): (id: string | null) => string {
  const { data: found } = useQuery(organizationsQuery({}, MAX_NAMED));
  const names = new Map(found?.data.map(({ id, name }) => [id, name]));
  return (id) => (id ? (names.get(id) ?? id) : "–");
}

const retryJob = (id: string) =>
  unwrapData(api.POST("/api/v1/operate/jobs/{queued_job_id}/retry", { params: { path: { queued_job_id: id } } }));
export const createOrganization = (body: Schemas["TenantCreate"]) => unwrapData(api.POST("/api/v1/tenants", { body }));
const updateOrganization = ({ id, ...body }: Schemas["TenantUpdate"] & { id: string }) =>
  unwrapData(api.PUT("/api/v1/tenants/{tenant_id}", { params: { path: { tenant_id: id } }, body }));

/** A job that failed for good runs again. `onDone` comes before the lists are read again, which may close its panel. */
export function useJobRetry(onDone?: (job: QueuedJob) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: retryJob,
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: ["operate"] }),
  });
}

/** A change of any organization; the name in the frame may be its name. */
export function useOrganizationUpdate() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: updateOrganization,
    onSuccess: (changed) => {
      client.setQueryData(organizationQuery(changed.id).queryKey, changed);
      void client.invalidateQueries({ queryKey: ["tenants", "list"] });
      void client.invalidateQueries({ queryKey: tenantQuery.queryKey });
    },
  });
}
