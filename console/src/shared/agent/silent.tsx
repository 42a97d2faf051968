import { Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { homeQuery } from "../../api/queries";
import type { components } from "../../api/schema";
import { createTranslator } from "../i18n/words";
import { StatusPill } from "../marks/status";
import en from "./words.en.json";

type Need = components["schemas"]["Home"]["needs"][number];

const say = createTranslator(en, "shared/agent");
const STALE_MS = 30_000;

/** Whether a used-up budget keeps this agent from answering anybody. */
export const isAgentSilenced = (needs: Need[], agentId: string): boolean =>
  needs.some(
    ({ title_code: code, params }) =>
      code === "budget_blocks" &&
      (params.scope === "tenant" || (params.scope === "agent" && params.scope_id === agentId)),
  );

/** "Published" beside an agent that answers nobody would mislead: Home knows why. */
export function SilentAgentNote({ agentId }: { agentId: string }) {
  const { data: home } = useQuery({ ...homeQuery, staleTime: STALE_MS });
  if (!home || !isAgentSilenced(home.needs, agentId)) return null;
  return (
    <Tooltip label={say("budgetUsedUp")}>
      <Link to="/agents/$agentId/statistics" params={{ agentId }}>
        <StatusPill tone="bad">{say("answersNobody")}</StatusPill>
      </Link>
    </Tooltip>
  );
}
