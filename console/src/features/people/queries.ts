import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { PeopleFilters } from "./filters";
import { toUserQuery } from "./user_query";

type Schemas = components["schemas"];
export type User = Schemas["UserOut"];
export type Invitation = Schemas["InvitationOut"];
export type UserSession = Schemas["SessionOut"];

export const USERS_PER_PAGE = 50;
const MAX_WAITING = 20;
const MAX_SHOWN = 100;
const userPath = (id: string) => ({ params: { path: { user_id: id } } });
const invitationPath = (id: string) => ({ params: { path: { invitation_id: id } } });

/** Only those of this organization: a super administrator would else see the users of all. */
export const usersQuery = (tenantId: string | undefined, filters: PeopleFilters) =>
  queryOptions({
    queryKey: ["users", "people", "list", tenantId, toUserQuery(filters)],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/users", {
          params: { query: { ...toUserQuery(filters), per_page: USERS_PER_PAGE, tenant_id: tenantId } },
          signal,
        }),
      ),
    enabled: Boolean(tenantId),
    placeholderData: keepPreviousData,
  });
export const waitingUsersQuery = (tenantId: string | undefined) =>
  queryOptions({
    queryKey: ["users", "people", "waiting", tenantId],
    queryFn: () =>
      unwrapData(
        api.GET("/users", {
          params: { query: { is_pending: true, per_page: MAX_WAITING, sort: "created_at", tenant_id: tenantId } },
        }),
      ),
    enabled: Boolean(tenantId),
  });
export const userQuery = (id: string) =>
  queryOptions({
    queryKey: ["users", "people", "one", id],
    queryFn: () => unwrapData(api.GET("/users/{user_id}", userPath(id))),
  });
export const userSessionsQuery = (id: string) =>
  queryOptions({
    queryKey: ["users", "people", "one", id, "sessions"],
    queryFn: () =>
      unwrapData(
        api.GET("/users/{user_id}/sessions", {
          params: { path: { user_id: id }, query: { per_page: MAX_SHOWN } },
        }),
      ),
  });
/** Those that end last come first, so that open ones are not lost behind old ones. */
export const invitationsQuery = queryOptions({
  queryKey: ["users", "people", "invitations"],
  queryFn: () =>
    unwrapData(api.GET("/users/invitations", { params: { query: { per_page: MAX_SHOWN, sort: "-expires_at" } } })),
});

export const changeRole = ({ id, role }: Schemas["RoleChange"] & { id: string }) =>
  unwrapData(api.PUT("/users/{user_id}/role", { ...userPath(id), body: { role } }));
export const approveUser = (id: string) => unwrapData(api.POST("/users/{user_id}/approve", userPath(id)));
export const deactivateUser = (id: string) => unwrapData(api.POST("/users/{user_id}/deactivate", userPath(id)));
export const reactivateUser = (id: string) => unwrapData(api.POST("/users/{user_id}/reactivate", userPath(id)));
export const deleteUser = (id: string) => unwrapData(api.DELETE("/users/{user_id}", userPath(id)));
export const issueResetLink = (id: string) => unwrapData(api.POST("/users/{user_id}/reset-link", userPath(id)));
export const resetSecondFactor = (id: string) =>
  unwrapData(api.POST("/api/v1/users/{user_id}/mfa/reset", userPath(id)));
export const endSessions = async ({ id, sessionIds }: { id: string; sessionIds: string[] }) => {
  for (const sessionId of sessionIds)
    await unwrapData(
      api.DELETE("/users/{user_id}/sessions/{session_id}", {
        params: { path: { user_id: id, session_id: sessionId } },
      }),
    );
};
export const resendInvitation = (id: string) =>
  unwrapData(api.POST("/users/invitations/{invitation_id}/resend", invitationPath(id)));
export const revokeInvitation = (id: string) =>
  unwrapData(api.DELETE("/users/invitations/{invitation_id}", invitationPath(id)));

/** A change of people, their sessions or invitations; everything that shows them is read again. */
export function usePeopleChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSettled: () => client.invalidateQueries({ queryKey: ["users", "people"] }),
  });
}
