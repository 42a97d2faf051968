import { createTranslator } from "../i18n/words";
import { ROLES, type RoleKey } from "./role_keys";
import en from "./words.en.json";

const say = createTranslator(en, "shared/people");

const isRoleKey = (key: string): key is RoleKey => ROLES.some((role) => role === key);

/** The roles that somebody of this role may give: none above it. A newer role has no known place and gives none. */
export const listGrantableRoles = (own: string | undefined): readonly RoleKey[] =>
  own && isRoleKey(own) ? ROLES.slice(ROLES.indexOf(own)) : [];

/** The name of a role; one that is newer than this console stands for itself. */
export const roleNameOf = (key: string): string => (isRoleKey(key) ? say(key) : key);

/** What people of a role can do, in a few words. */
export const describeRole = (role: RoleKey): string => say(`${role}_can`);
