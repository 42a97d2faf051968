import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { ROLES, type RoleKey } from "../../shared/people/role_keys";
import { applyRoleChange, type RoleChange, type RolePermissions } from "./matrix";

const rolePath = (role: RoleKey) => ({ params: { path: { role } } });

export const rolesQuery = queryOptions({
  queryKey: ["roles"],
  queryFn: async (): Promise<RolePermissions> => {
    const found = await Promise.all(
      ROLES.map(async (role) => {
        const { permissions } = await unwrapData(api.GET("/roles/{role}/permissions", rolePath(role)));
        return [role, permissions] as const;
      }),
    );
    return Object.fromEntries(found) as Record<RoleKey, string[]>;
  },
});

/** How many people have a role, in all organizations. */
export const holdersQuery = (role: RoleKey) =>
  queryOptions({
    queryKey: ["users", "people", "count", role],
    queryFn: async () => (await unwrapData(api.GET("/users", { params: { query: { role, per_page: 1 } } }))).total,
  });

type RoleSaving = { changes: RoleChange[]; password?: string };

/**
 * Save one role after the other, each with the password if the server asks for one. The server takes all that a role
 * holds, so each change is applied to what the role holds now. `onSaved` runs even if nothing shows the changes any more.
 */
export function useRoleSaving(onSaved: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ changes, password }: RoleSaving) => {
      for (const change of changes) {
        const path = rolePath(change.role);
        const held = await unwrapData(api.GET("/roles/{role}/permissions", path));
        const saved = await unwrapData(
          api.PUT("/roles/{role}/permissions", {
            ...path,
            body: { permissions: applyRoleChange(held.permissions, change), ...(password ? { password } : {}) },
          }),
        );
        client.setQueryData(rolesQuery.queryKey, (now) => now && { ...now, [change.role]: saved.permissions });
      }
    },
    onSuccess: onSaved,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["roles"] }),
        client.invalidateQueries({ queryKey: ["users", "me", "permissions"] }),
      ]),
  });
}
