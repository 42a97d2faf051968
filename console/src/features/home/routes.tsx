import type { QueryClient } from "@tanstack/react-query";
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { permissionsQuery } from "../../api/queries";
import type { FrameRoute } from "../../frame_route";
import { isChatFirst, isChatOnly } from "../../shared/frame/navigation";
import { wasOpened } from "../../shared/frame/opening";

/** People who chat and do not build begin at Chat. Home stays an entry of theirs, unless they see no agents. */
async function openChatFirst(client: QueryClient) {
  const role = await client.ensureQueryData(permissionsQuery).catch(() => undefined);
  if (!role || !isChatFirst(role.permissions)) return;
  if (!wasOpened() || isChatOnly(role.permissions)) throw redirect({ to: "/chat", replace: true });
}

export const homeRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "/",
    beforeLoad: ({ context }) => openChatFirst((context as { client: QueryClient }).client),
    component: lazyRouteComponent(() => import("./home")),
  }),
];
