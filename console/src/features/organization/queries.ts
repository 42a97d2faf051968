import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { tenantQuery } from "../../api/queries";
import type { components } from "../../api/schema";

type Schemas = components["schemas"];
export type Organization = Schemas["TenantOut"];
export type DecidedSetting = Schemas["DecidedSetting"];

export const decidedSettingsQuery = queryOptions({
  queryKey: ["tenants", "own", "settings"],
  queryFn: () => unwrapData(api.GET("/api/v1/tenant/settings")),
});

const changeOrganization = (body: Schemas["OwnTenantUpdate"]) => unwrapData(api.PATCH("/api/v1/tenant", { body }));

/** A change of one's own organization, whose name stands in the frame as well. */
export function useOrganizationChange() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: changeOrganization,
    onSuccess: (changed) => {
      client.setQueryData(tenantQuery.queryKey, changed);
      void client.invalidateQueries({ queryKey: ["tenants", "list"] });
    },
  });
}
