import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { Show } from "./shows";

export type Approval = components["schemas"]["ApprovalOut"];
export const MAX_ROWS = 100;

/** What waits comes first that expires first; what is decided, the newest first. */
export const approvalsQuery = (show: Show) =>
  queryOptions({
    queryKey: ["approvals", "list", show],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/approvals", {
          params: {
            query: {
              per_page: MAX_ROWS,
              ...(show === "decided" ? {} : { status: "pending" as const, sort: "expires_at" }),
              ...(show === "mine" ? { waiting_for_me: true } : {}),
            },
          },
          signal,
        }),
      ),
    select: (page) => (show === "decided" ? page.data.filter((one) => one.status !== "pending") : page.data),
  });
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ["approvals", id],
    queryFn: async () =>
      (await unwrapData(api.GET("/api/v1/approvals/{approval_id}", { params: { path: { approval_id: id } } }))).data,
  });

export type Decision = {
  verdict: "approve" | "reject";
  comment: string;
  edited?: Record<string, unknown>;
  data?: Record<string, unknown>;
};

async function postDecision(id: string, { verdict, comment, edited, data: values }: Decision) {
  const params = { path: { approval_id: id } };
  type Body = components["schemas"]["Approve"];
  const said = comment.trim() ? { comment: comment.trim() } : {};
  if (verdict === "reject") await api.POST("/api/v1/approvals/{approval_id}/reject", { params, body: said });
  else
    await api.POST("/api/v1/approvals/{approval_id}/approve", {
      params,
      // The generated type of a free object allows no values.
      body: { ...said, ...(edited ? { edited_input: edited } : {}), ...(values ? { data: values } : {}) } as Body,
    });
}

/** Of what ends a request on this page: a decision, or that it is cancelled. */
export const decisionEndKey = (id: string) => ["approvals", "end", id];

/** Decide; whatever the answer is, the lists and the count are read again: someone may have been faster. */
export function useApprovalDecision(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationKey: decisionEndKey(id),
    mutationFn: (decision: Decision) => postDecision(id, decision),
    onSettled: () => client.invalidateQueries({ queryKey: ["approvals"] }),
  });
}
