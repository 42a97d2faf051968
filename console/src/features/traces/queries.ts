import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { TraceFilters } from "./filters";
import { toTraceQuery } from "./trace_query";

export const TRACES_PER_PAGE = 50;
export type ListedTrace = components["schemas"]["TraceOut"];

export const traceListQuery = (filters: TraceFilters) =>
  queryOptions({
    queryKey: ["traces", "list", filters],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/traces", {
          params: { query: { ...toTraceQuery(filters), per_page: TRACES_PER_PAGE } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** A trace in the JSON form of OpenTelemetry, for another program. */
export const loadOtlp = (id: string) =>
  unwrapData(api.GET("/api/v1/traces/{trace_id}/otlp", { params: { path: { trace_id: id } } }));
