import { api, unwrapData } from "../api/client";
import type { components, paths } from "../api/schema";

export type UsageReport = components["schemas"]["Usage"];
export type UsageQuery = NonNullable<paths["/api/v1/usage"]["get"]["parameters"]["query"]>;

/** What the organization used. The document knows it as JSON or as a file, so the type is named here. */
export const readUsageReport = (query: UsageQuery, signal?: AbortSignal): Promise<UsageReport> =>
  unwrapData(api.GET("/api/v1/usage", { params: { query }, signal }) as Promise<{ data?: UsageReport }>);
