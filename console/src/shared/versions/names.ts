import { useQuery } from "@tanstack/react-query";
import type { components } from "../../api/schema";
import { draftQuery } from "./queries";

type Named = Pick<components["schemas"]["AgentDetail"], "tools" | "sub_agents">;

/** The names of an agent's tools and sub-agents by their ids, those of its draft as well. */
export function useReferencedNames(agentId: string, agent?: Named): Record<string, string> {
  const { data: draft } = useQuery(draftQuery(agentId));
  const listed = [
    ...(agent?.tools ?? []),
    ...(agent?.sub_agents ?? []),
    ...(draft?.snapshot.tools ?? []).map(({ tool_id, name }) => ({ id: tool_id, name })),
    ...(draft?.snapshot.sub_agents ?? []),
  ];
  return Object.fromEntries(listed.map(({ id, name }) => [id, name]));
}
