import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { permissionsQuery } from "../../api/queries";
import { listCreatables } from "./creations";

/** Whether an address belongs to a route: `/agents/$agentId` takes `/agents/agt_1`. */
function isAddressOf(path: string, to: string): boolean {
  const [wanted, query] = [path.split("/"), to.replace(/\?.*/, "").split("/")];
  return wanted.length === query.length && wanted.every((part, i) => part.startsWith("$") || part === query[i]);
}

/** Tells whether this console has a page at an address. */
export function usePageCheck() {
  const router = useRouter();
  return (to: string) => Object.keys(router.routesByPath).some((path) => isAddressOf(path, to));
}

/** What this person may create, each with the way to its form. */
export function useCreatables() {
  const navigate = useNavigate();
  const hasPage = usePageCheck();
  const { data: role } = useQuery(permissionsQuery);
  return listCreatables(role?.permissions ?? [], hasPage).map(({ to, search, hash, ...one }) => ({
    ...one,
    run: () => void navigate({ to, search: search as never, hash }),
  }));
}
