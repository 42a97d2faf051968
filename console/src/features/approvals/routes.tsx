import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../routes";
import { SHOWS, type Show } from "./queries";

type Search = { show?: Exclude<Show, "mine">; id?: string };

export function readSearch(search: Record<string, unknown>): Search {
  const show = SHOWS.find((one) => one === search.show);
  return {
    ...(show && show !== "mine" ? { show } : {}),
    ...(typeof search.id === "string" && search.id ? { id: search.id } : {}),
  };
}

export const approvalRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "approvals",
    validateSearch: readSearch,
    component: lazyRouteComponent(() => import("./approvals")),
  }),
];
