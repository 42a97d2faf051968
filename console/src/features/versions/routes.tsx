import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import { createAddressReader, readWholeNumberFrom } from "../../shared/list/address";
import type { VersionName } from "../../shared/versions/queries";

export type ComparedVersions = { version?: VersionName; against?: VersionName };

const readVersionNumber = readWholeNumberFrom(1);
const readVersionName = (value: unknown): VersionName | undefined =>
  value === "draft" ? value : readVersionNumber(value);

export const readComparedVersions = createAddressReader<ComparedVersions>({
  version: readVersionName,
  against: readVersionName,
});

export const versionRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/versions",
    validateSearch: readComparedVersions,
    component: lazyRouteComponent(() => import("./versions")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/compare",
    component: lazyRouteComponent(() => import("./compare")),
  }),
];
