import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const embedRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/share",
    component: lazyRouteComponent(() => import("./share")),
  }),
];
