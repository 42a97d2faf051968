import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import { meQuery, usePermissionCheck } from "../../api/queries";
import { type Approval, decisionEndKey } from "./queries";

/** What the requester and administrators can do with a request that waits: remind and cancel. */
export function useRequesterActions(approval: Pick<Approval, "id" | "status" | "requested_by">) {
  const may = usePermissionCheck();
  const client = useQueryClient();
  const { data: me } = useQuery(meQuery);
  const params = { path: { approval_id: approval.id } };
  const refreshApproval = () => client.invalidateQueries({ queryKey: ["approvals"] });
  const remind = useMutation({ mutationFn: () => api.POST("/api/v1/approvals/{approval_id}/remind", { params }) });
  const cancel = useMutation({
    mutationKey: decisionEndKey(approval.id),
    mutationFn: () => api.POST("/api/v1/approvals/{approval_id}/cancel", { params, body: {} }),
    onSettled: refreshApproval,
  });
  const isOpen = approval.status === "pending" && may("approvals:decide");
  const isOwn = me?.id === approval.requested_by.id;
  return {
    remind,
    cancel,
    mayRemind: isOpen && (isOwn || may("agents:write")),
    mayCancel: isOpen && (isOwn || me?.role === "tenant_admin" || me?.role === "super_admin"),
  };
}
