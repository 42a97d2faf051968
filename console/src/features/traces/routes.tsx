import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";

export const traceRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "traces/$traceId",
    validateSearch: (search): { step?: string } => (typeof search.step === "string" ? { step: search.step } : {}),
    component: lazyRouteComponent(() => import("./trace")),
  }),
];
