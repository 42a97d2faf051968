import type { components } from "../../api/schema";

type Need = components["schemas"]["Home"]["needs"][number];

/** How many questions budgets refused today, as Home knows it; those of one agent's budgets and the organization's. */
export const countRefusedQuestions = (needs: Need[], agentId?: string): number =>
  needs
    .filter(({ kind, params }) => kind === "budget" && Number(params.refused_count) > 0)
    .filter(({ params }) => !agentId || params.scope === "tenant" || params.scope_id === agentId)
    .reduce((sum, { params }) => sum + Number(params.refused_count), 0);
