import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readTextUpTo } from "../../shared/list/address";

/** `search` narrows the list of operations. */
const readSearch = createAddressReader<{ search?: string }>({ search: readTextUpTo(100) });
const component = lazyRouteComponent(() => import("./reference"));

export const referenceRoutes = (frame: FrameRoute) => [
  createRoute({ getParentRoute: () => frame, path: "reference", validateSearch: readSearch, component }),
  createRoute({ getParentRoute: () => frame, path: "reference/$operationId", validateSearch: readSearch, component }),
];
