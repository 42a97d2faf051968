import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../../api/errors";
import { permissionsQuery } from "../../api/queries";
import { LaterForbiddenState } from "./later_forbidden";

/** What only people with a permission can use. It asks the server for nothing, so nobody would be refused there. */
export function PermissionGate({ permission, children }: { permission: string; children: ReactNode }) {
  const { data: held } = useQuery(permissionsQuery);
  if (held === undefined || held.permissions.includes(permission)) return children;
  const details = { required: permission, your_role: held.role };
  return <LaterForbiddenState error={new ApiError(403, "forbidden", "", details)} />;
}
