import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../routes";

export const homeRoutes = (frame: FrameRoute) => [
  createRoute({ getParentRoute: () => frame, path: "/", component: lazyRouteComponent(() => import("./home")) }),
];
