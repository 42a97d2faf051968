import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { api, data } from "./client";
import { ApiError } from "./errors";

/** Only what may be gone in a moment is tried again, and after a 429 only once its window is over. */
const isWorthRetrying = (count: number, error: Error) =>
  error instanceof ApiError &&
  (error.status === 429 ? isShort(error) : error.status === 0 || error.status >= 502) &&
  count < 2;
/** A budget or a limit of the day is not waited for. */
const isShort = (error: ApiError) => error.retryAfterSeconds <= 60;
const retryDelay = (count: number, error: Error) =>
  error instanceof ApiError && error.retryAfterSeconds ? error.retryAfterSeconds * 1000 + 250 : 800 * 2 ** count;

export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: { queries: { staleTime: 30_000, retry: isWorthRetrying, retryDelay, refetchOnWindowFocus: false } },
  });

/** Ask once more for what failed, where a screen shows it. */
export const refetchFailed = (client: QueryClient) =>
  client.refetchQueries({ type: "active", predicate: (query) => query.state.status === "error" });

/** Ask once more for what a screen shows; what none shows is asked for when one does. */
export const refetchShown = (client: QueryClient) => client.invalidateQueries();

export const meQuery = queryOptions({
  queryKey: ["users", "me"],
  queryFn: () => data(api.GET("/auth/me")),
  staleTime: 300_000,
});
export const permissionsQuery = queryOptions({
  queryKey: ["users", "me", "permissions"],
  queryFn: () => data(api.GET("/me/permissions")),
  staleTime: 300_000,
});
export const tenantQuery = queryOptions({
  queryKey: ["tenants", "own"],
  queryFn: () => data(api.GET("/api/v1/tenant")),
  staleTime: 300_000,
});
export const unreadQuery = queryOptions({
  queryKey: ["notifications", "unread"],
  queryFn: () => data(api.GET("/api/v1/notifications/unread/count")),
});
/** How many approvals wait for this person. */
export const pendingQuery = queryOptions({
  queryKey: ["approvals", "count"],
  queryFn: () => data(api.GET("/api/v1/approvals/count")),
});

/** What needs this person, and the numbers beside the navigation. */
export const homeQuery = queryOptions({
  queryKey: ["home"],
  queryFn: () => data(api.GET("/api/v1/home")),
});

/** Whether this person has a permission; the server decides, the console only avoids dead ends. */
export function useMay() {
  const { data: role } = useQuery(permissionsQuery);
  return (permission: string) => role?.permissions.includes(permission) ?? false;
}
