import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readTrueFlag } from "../../shared/list/address";

export const serviceAccountRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "settings/service-accounts",
    validateSearch: createAddressReader<{ create?: boolean }>({ create: readTrueFlag }),
    component: lazyRouteComponent(() => import("./service_accounts")),
  }),
];
