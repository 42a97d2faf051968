import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";

const MAX_DECIDABLE = 100;

/** The approvals that this person can decide now. */
export const decidableQuery = queryOptions({
  queryKey: ["approvals", "decidable"],
  queryFn: async () => {
    const query = { status: "pending", waiting_for_me: true, per_page: MAX_DECIDABLE } as const;
    return (await unwrapData(api.GET("/api/v1/approvals", { params: { query } }))).data.map((approval) => approval.id);
  },
});
