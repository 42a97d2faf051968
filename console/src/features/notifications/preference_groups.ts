const GROUPS = {
  needs: ["approval_requested", "access_requested", "account_pending", "budget_threshold"],
  wrong: ["workflow_failed", "webhook_disabled", "credential_expiring", "agent_training_failed", "tool_drifted"],
  happens: ["workflow_completed", "form_submission", "security_alert"],
} as const;
type GroupName = keyof typeof GROUPS | "own";

/** The types by what they ask of somebody; those that workflows made up, or that are newer, come last. */
export function groupNotificationTypes(types: string[]): { group: GroupName; types: string[] }[] {
  const grouped: { group: GroupName; types: string[] }[] = Object.entries(GROUPS).map(([group, members]) => ({
    group: group as GroupName,
    types: members.filter((type) => types.includes(type)),
  }));
  const known = new Set(grouped.flatMap(({ types: members }) => members));
  grouped.push({ group: "own", types: types.filter((type) => !known.has(type)).sort() });
  return grouped.filter(({ types: members }) => members.length > 0);
}
