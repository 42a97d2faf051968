import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";

type Schemas = components["schemas"];
export type Exporter = Schemas["TraceExporterOut"];
export type ExporterBody = Schemas["TraceExporterCreate"];

/** An organization has no more of them; the server refuses the next. */
export const MAX_EXPORTERS = 3;
const pathOf = (id: string) => ({ params: { path: { exporter_id: id } } });

export const exportersQuery = queryOptions({
  queryKey: ["exporters"],
  queryFn: () => unwrapData(api.GET("/api/v1/trace-exporters")),
});
export const createExporter = (body: ExporterBody) => unwrapData(api.POST("/api/v1/trace-exporters", { body }));
export const updateExporter = ({ id, ...body }: Schemas["TraceExporterUpdate"] & { id: string }) =>
  unwrapData(api.PATCH("/api/v1/trace-exporters/{exporter_id}", { ...pathOf(id), body }));
export const deleteExporter = (id: string) =>
  unwrapData(api.DELETE("/api/v1/trace-exporters/{exporter_id}", pathOf(id)));
export const testExporter = (id: string) =>
  unwrapData(api.POST("/api/v1/trace-exporters/{exporter_id}/test", pathOf(id)));

/** A change of an exporter; all of them are read again. */
export function useExporterChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSuccess: () => client.invalidateQueries({ queryKey: ["exporters"] }),
  });
}
