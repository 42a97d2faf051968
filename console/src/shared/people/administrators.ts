import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";

/** Who can change roles here, for those who cannot. */
export const administratorsQuery = queryOptions({
  queryKey: ["users", "administrators"],
  queryFn: () => unwrapData(api.GET("/users/administrators")),
  staleTime: 300_000,
  retry: false,
});
