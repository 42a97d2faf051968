import { listGrantableRoles } from "../../shared/people/roles";
import type { User } from "./queries";

/** Why an account cannot be changed here: it is one's own, or its role is above one's own. */
export type Obstacle = "own" | "above" | undefined;

export function findObstacle(me: Pick<User, "id" | "role"> | undefined, user: Pick<User, "id" | "role">): Obstacle {
  if (me?.id === user.id) return "own";
  return listGrantableRoles(me?.role).some((role) => role === user.role) ? undefined : "above";
}
