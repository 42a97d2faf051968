/** From the most to the least power. */
export const ROLES = ["super_admin", "tenant_admin", "agent_developer", "agent_user", "viewer"] as const;
export type RoleKey = (typeof ROLES)[number];
