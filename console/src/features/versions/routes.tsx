import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { FrameRoute } from "../../frame_route";
import type { VersionName } from "../../shared/versions/queries";

export type ComparedVersions = { version?: VersionName; against?: VersionName };

const versionName = (value: unknown): VersionName | undefined =>
  value === "draft" ? value : Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined;

export const readChoice = (search: Record<string, unknown>): ComparedVersions => {
  const [version, against] = [versionName(search.version), versionName(search.against)];
  return { ...(version ? { version } : {}), ...(against ? { against } : {}) };
};

export const versionRoutes = (frame: FrameRoute) => [
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/versions",
    validateSearch: readChoice,
    component: lazyRouteComponent(() => import("./versions")),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: "agents/$agentId/compare",
    component: lazyRouteComponent(() => import("./compare")),
  }),
];
