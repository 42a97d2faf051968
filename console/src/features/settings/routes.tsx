import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

/** Where tabs of Settings stood before; what was asked of them there is asked of them here. */
const MOVED = { models: "/settings/models", "service-accounts": "/settings/service-accounts" } as const;

export const settingsRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings",
    component: lazyRouteComponent(() => import("./first_tab")),
  }),
  ...Object.entries(MOVED).map(([path, to]) =>
    createRoute({
      getParentRoute: () => frame,
      path,
      beforeLoad: ({ location }) => {
        throw redirect({ to, search: location.search, replace: true });
      },
    }),
  ),
];
