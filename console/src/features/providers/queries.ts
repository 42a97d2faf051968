import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";

export const keysQuery = queryOptions({
  queryKey: ["providers", "keys"],
  queryFn: () => data(api.GET("/api/v1/api-keys", { params: { query: { per_page: 100, sort: "provider" } } })),
});
