import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { SHOWS, type Show } from "./queries";

type Search = { show?: Exclude<Show, "mine">; id?: string };

export function readApprovalSearch(search: Record<string, unknown>): Search {
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
    validateSearch: readApprovalSearch,
    component: lazyRouteComponent(() => import("./approvals")),
  }),
];
