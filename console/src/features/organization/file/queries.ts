import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../../api/client";
import type { components } from "../../../api/schema";
import { saveTextFile } from "../../../shared/save_file";
import { type FileFormat, type FileSection, readExportWarnings } from "./sections";

type Schemas = components["schemas"];
export type TenantPlan = Schemas["TenantPlan"];
export type AppliedFile = Schemas["TenantApplied"];

const MEDIA_TYPES: Record<FileFormat, string> = { yaml: "application/yaml", json: "application/json" };

/** Download the file and return what it had to leave out. */
export async function downloadTenantFile(request: { sections: FileSection[]; format: FileFormat }) {
  const { format } = request;
  const { data } = await api.GET("/api/v1/tenant/export", {
    params: { query: { format, ...(request.sections.length ? { sections: request.sections.join(",") } : {}) } },
    parseAs: "text",
  });
  const text = String(data ?? "");
  saveTextFile(`tenant.${format}`, text, MEDIA_TYPES[format]);
  return readExportWarnings(text, format);
}

export const planTenantFile = (body: Schemas["PlanRequest"]) => unwrapData(api.POST("/api/v1/tenant/plan", { body }));

const applyFile = (body: Schemas["ApplyRequest"]) => unwrapData(api.POST("/api/v1/tenant/apply", { body }));

/** Apply a file as it was planned; anything on any screen may be another afterwards. */
export function useFileApply() {
  const client = useQueryClient();
  return useMutation({ mutationFn: applyFile, onSuccess: () => client.invalidateQueries() });
}
