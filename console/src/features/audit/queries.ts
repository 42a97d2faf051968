import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { saveTextFile } from "../../shared/save_file";
import { toAuditPeriod, toAuditQuery } from "./audit_query";
import type { AuditFilters } from "./filters";

type Schemas = components["schemas"];
export type AuditEntry = Schemas["AuditEntryOut"];
export type AuditVerdict = Schemas["AuditVerdict"];
export type AuditReceiver = Schemas["AuditStreamOut"];
export type NewAuditReceiver = Schemas["NewAuditStream"];

export const ENTRIES_PER_PAGE = 50;
const MAX_RECEIVERS = 100;
const streamPath = (id: string) => ({ params: { path: { stream_id: id } } });

export const auditQuery = (filters: AuditFilters) =>
  queryOptions({
    queryKey: ["audit", "entries", toAuditQuery(filters)],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/audit", {
          params: { query: { ...toAuditQuery(filters), per_page: ENTRIES_PER_PAGE } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** Whom the log can be asked about; those who may not see people have none to choose from. */
export const auditActorsQuery = (tenantId: string | undefined, mayRead: boolean) =>
  queryOptions({
    queryKey: ["users", "people", "actors", tenantId],
    queryFn: () =>
      unwrapData(api.GET("/users", { params: { query: { per_page: 100, sort: "first_name", tenant_id: tenantId } } })),
    enabled: Boolean(tenantId) && mayRead,
    staleTime: 300_000,
  });

export const verifyAuditChain = () => unwrapData(api.GET("/api/v1/audit/verify"));

export const EXPORT_FORMATS = ["jsonl", "csv"] as const;
export type AuditExportFormat = (typeof EXPORT_FORMATS)[number];
const MEDIA_TYPES: Record<AuditExportFormat, string> = { jsonl: "application/x-ndjson", csv: "text/csv" };

/** Save the entries of the chosen period; the export becomes an entry itself. */
export async function exportAuditLog(request: { filters: AuditFilters; format: AuditExportFormat }) {
  const { data } = await api.GET("/api/v1/audit/export", {
    params: { query: { format: request.format, ...toAuditPeriod(request.filters) } },
    parseAs: "text",
  });
  saveTextFile(`audit.${request.format}`, String(data ?? ""), MEDIA_TYPES[request.format]);
}

export const receiversQuery = queryOptions({
  queryKey: ["audit", "receivers"],
  queryFn: () => unwrapData(api.GET("/api/v1/audit/streams", { params: { query: { per_page: MAX_RECEIVERS } } })),
});
export const createReceiver = (body: Schemas["AuditStreamCreate"]) =>
  unwrapData(api.POST("/api/v1/audit/streams", { body }));
export const changeReceiver = ({ id, ...body }: Schemas["AuditStreamUpdate"] & { id: string }) =>
  unwrapData(api.PATCH("/api/v1/audit/streams/{stream_id}", { ...streamPath(id), body }));
export const deleteReceiver = (id: string) =>
  unwrapData(api.DELETE("/api/v1/audit/streams/{stream_id}", streamPath(id)));
export const testReceiver = (id: string) =>
  unwrapData(api.POST("/api/v1/audit/streams/{stream_id}/test", streamPath(id)));

/** A change of the receivers; the list is read again, for it says how far each of them is. */
export function useReceiverChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSettled: () => client.invalidateQueries({ queryKey: ["audit", "receivers"] }),
  });
}
