import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agents", id],
    queryFn: () => unwrapData(api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id: id } } })),
  });
