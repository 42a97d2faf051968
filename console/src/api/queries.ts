import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { api, unwrapData } from "./client";
import { ApiError } from "./errors";

/** Only what may be gone in a moment is tried again, and after a 429 only once its window is over. */
const isWorthRetrying = (count: number, error: Error) =>
  error instanceof ApiError &&
  (error.status === 429 ? isShortPause(error) : error.status === 0 || error.status >= 502) &&
  count < 2;
/** A budget or a limit of the day is not waited for. */
const isShortPause = (error: ApiError) => error.retryAfterSeconds <= 60;
const retryDelayMs = (count: number, error: Error) =>
  error instanceof ApiError && error.retryAfterSeconds ? error.retryAfterSeconds * 1000 + 250 : 800 * 2 ** count;

export const createQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: { staleTime: 30_000, retry: isWorthRetrying, retryDelay: retryDelayMs, refetchOnWindowFocus: false },
    },
  });

/** Ask once more for what failed, where a screen shows it. */
export const refetchFailedQueries = (client: QueryClient) =>
  client.refetchQueries({ type: "active", predicate: (query) => query.state.status === "error" });

/** Ask once more for what a screen shows; what none shows is asked for when one does. */
export const refetchShownQueries = (client: QueryClient) => client.invalidateQueries();

export const meQuery = queryOptions({
  queryKey: ["users", "me"],
  queryFn: () => unwrapData(api.GET("/auth/me")),
  staleTime: 300_000,
});
export const permissionsQuery = queryOptions({
  queryKey: ["users", "me", "permissions"],
  queryFn: () => unwrapData(api.GET("/me/permissions")),
  staleTime: 300_000,
});
export const tenantQuery = queryOptions({
  queryKey: ["tenants", "own"],
  queryFn: () => unwrapData(api.GET("/api/v1/tenant")),
  staleTime: 300_000,
});
export const unreadQuery = queryOptions({
  queryKey: ["notifications", "unread"],
  queryFn: () => unwrapData(api.GET("/api/v1/notifications/unread/count")),
});
/** How many approvals wait for this person. */
export const pendingQuery = queryOptions({
  queryKey: ["approvals", "count"],
  queryFn: () => unwrapData(api.GET("/api/v1/approvals/count")),
});

/** What needs this person, and the numbers beside the navigation. */
export const homeQuery = queryOptions({
  queryKey: ["home"],
  queryFn: () => unwrapData(api.GET("/api/v1/home")),
});

/** Whether this person has a permission; the server decides, the console only avoids dead ends. */
export function usePermissionCheck() {
  const { data: role } = useQuery(permissionsQuery);
  return (permission: string) => role?.permissions.includes(permission) ?? false;
}
