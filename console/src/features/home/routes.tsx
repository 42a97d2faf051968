import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const homeRoutes = (frame: FrameRoute) => [
  createRoute({ getParentRoute: () => frame, path: "/", component: lazyRouteComponent(() => import("./home")) }),
];
