import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { readPeopleFilters } from "./filters";

export const peopleRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings/people",
    validateSearch: readPeopleFilters,
    component: lazyRouteComponent(() => import("./people")),
  }),
];
