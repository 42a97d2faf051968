import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { SHOWS, type Show } from "../../shared/approvals/shows";
import { createAddressReader, readOneOf, readText } from "../../shared/list/address";

type Search = { show?: Exclude<Show, "mine">; id?: string };

export const readApprovalSearch = createAddressReader<Search>({ show: readOneOf(SHOWS, "mine"), id: readText });

export const approvalRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "approvals",
    validateSearch: readApprovalSearch,
    component: lazyRouteComponent(() => import("./approvals")),
  }),
];
