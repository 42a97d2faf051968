import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { api, data } from "./client";
import { ApiError } from "./errors";

/** Only what may be gone in a moment is tried again, and after a 429 only once its window is over. */
const retry = (count: number, error: Error) =>
  error instanceof ApiError &&
  (error.status === 429 ? count < 3 : error.status === 0 || error.status >= 502) &&
  count < 2;
const retryDelay = (count: number, error: Error) =>
  error instanceof ApiError && error.retryAfterSeconds ? error.retryAfterSeconds * 1000 + 250 : 800 * 2 ** count;

export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: { queries: { staleTime: 30_000, retry, retryDelay, refetchOnWindowFocus: false } },
  });

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
