import { ROLES, type RoleKey } from "../../shared/people/role_keys";
import { CHAT_PERMISSIONS, permissionNameOf } from "../../shared/permissions/permissions";
import type { RoleFilters } from "./filters";

/** What each role may, as it is stored. */
export type RolePermissions = Record<RoleKey, readonly string[]>;
/** What was ticked or unticked and is not saved yet: `viewer agents:read` → whether it shall be held. */
export type Choices = Readonly<Record<string, boolean>>;
export type RoleChange = { role: RoleKey; gained: string[]; lost: string[] };

/** Its permissions cannot be changed: a server that locks out its super administrators is lost. */
export const LOCKED_ROLE: RoleKey = "super_admin";
export const CHANGEABLE_ROLES = ROLES.filter((role) => role !== LOCKED_ROLE);
/** Permissions that no other role can have. */
const RESERVED = ["admin:roles", "admin:tenants"];
export const isReserved = (permission: string) => RESERVED.includes(permission);

export const permissionAreaOf = (permission: string) => permission.split(":")[0] ?? permission;
const choiceKey = (role: RoleKey, permission: string) => `${role} ${permission}`;

/** Whether a role would hold a permission once the choices are saved. */
export const isPermissionHeld = (
  stored: RolePermissions,
  choices: Choices,
  role: RoleKey,
  permission: string,
): boolean => choices[choiceKey(role, permission)] ?? stored[role].includes(permission);

export const isChanged = (stored: RolePermissions, choices: Choices, role: RoleKey, permission: string): boolean =>
  isPermissionHeld(stored, choices, role, permission) !== stored[role].includes(permission);

/** Tick or untick. What is as it is stored is no choice: it must not undo what a colleague changes meanwhile. */
export function choosePermission(
  stored: RolePermissions,
  choices: Choices,
  role: RoleKey,
  permission: string,
  isOn: boolean,
): Choices {
  const { [choiceKey(role, permission)]: _, ...others } = choices;
  return stored[role].includes(permission) === isOn ? others : { ...others, [choiceKey(role, permission)]: isOn };
}

/** A role that may chat and see its own conversations and nothing else, whatever it gets meanwhile. */
export const chooseChatOnly = (stored: RolePermissions, choices: Choices, role: RoleKey): Choices => ({
  ...choices,
  ...Object.fromEntries(
    stored[LOCKED_ROLE].map((permission) => [choiceKey(role, permission), CHAT_PERMISSIONS.includes(permission)]),
  ),
});

/** The permissions that the filters leave, by area and in the order of the catalogue. */
export function listPermissionRows(
  stored: RolePermissions,
  choices: Choices,
  { search = "", area, differences }: RoleFilters,
): [area: string, permissions: string[]][] {
  const wanted = search.trim().toLowerCase();
  const groups = new Map<string, string[]>();
  // The role that holds everything is the catalogue.
  for (const permission of stored[LOCKED_ROLE]) {
    const held = CHANGEABLE_ROLES.filter((role) => isPermissionHeld(stored, choices, role, permission)).length;
    if (area && permissionAreaOf(permission) !== area) continue;
    if (differences && (held === 0 || held === CHANGEABLE_ROLES.length)) continue;
    if (!`${permission} ${permissionNameOf(permission)}`.toLowerCase().includes(wanted)) continue;
    groups.set(permissionAreaOf(permission), [...(groups.get(permissionAreaOf(permission)) ?? []), permission]);
  }
  return [...groups];
}

/** Who gains and who loses what. */
export const listRoleChanges = (stored: RolePermissions, choices: Choices): RoleChange[] =>
  CHANGEABLE_ROLES.map((role) => {
    const changed = stored[LOCKED_ROLE].filter((permission) => isChanged(stored, choices, role, permission));
    return {
      role,
      gained: changed.filter((permission) => !stored[role].includes(permission)),
      lost: changed.filter((permission) => stored[role].includes(permission)),
    };
  }).filter(({ gained, lost }) => gained.length + lost.length > 0);

/** What a role holds once a change is applied to what it holds now. */
export const applyRoleChange = (held: readonly string[], { gained, lost }: RoleChange): string[] => [
  ...held.filter((permission) => !gained.includes(permission) && !lost.includes(permission)),
  ...gained,
];
