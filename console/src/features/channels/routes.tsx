import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readText } from "../../shared/list/address";
import { readChannelFilters } from "./filters";

export const channelRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "channels",
    validateSearch: readChannelFilters,
    component: lazyRouteComponent(() => import("./channels")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "channels/new",
    validateSearch: createAddressReader<{ provider?: string }>({ provider: readText }),
    component: lazyRouteComponent(() => import("./new_channel")),
  }),
];
