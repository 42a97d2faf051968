import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agents", id],
    queryFn: () => data(api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id: id } } })),
  });
