import { words } from "../i18n/words";
import en from "./words.en.json";

const say = words(en, "shared/people");

/** From the most to the least power. */
export const ROLES = ["super_admin", "tenant_admin", "agent_developer", "agent_user", "viewer"] as const;
export type RoleKey = (typeof ROLES)[number];

const isRole = (key: string): key is RoleKey => ROLES.some((role) => role === key);

/** The name of a role; one that is newer than this console stands for itself. */
export const roleName = (key: string): string => (isRole(key) ? say(key) : key);

/** What people of a role can do, in a few words. */
export const roleMeaning = (role: RoleKey): string => say(`${role}_can`);
