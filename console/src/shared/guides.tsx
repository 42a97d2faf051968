import { queryOptions } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { basePath } from "../api/base";
import { readApiError } from "../api/errors";

/** The guides of this release, which the server itself serves. */
export const guideAddressOf = (page: string, part?: string) =>
  `${basePath}/docs/guides/${page}.md${part ? `#${part}` : ""}`;

/** A guide in a tab of its own, where the console has no screen yet. */
export const GuideLink = ({ page, part, children }: { page: string; part?: string; children: ReactNode }) => (
  <a href={guideAddressOf(page, part)} target="_blank" rel="noreferrer">
    {children}
  </a>
);

export type Guide = { page: string; title: string };

/** The guides that this release serves; none where it was installed without its documents. */
export const guidesQuery = queryOptions({
  queryKey: ["guides"],
  queryFn: async ({ signal }): Promise<Guide[]> => {
    const response = await fetch(`${basePath}/docs/guides/index.json`, { signal });
    if (response.status === 404) return [];
    if (!response.ok) throw await readApiError(response);
    const found = (await response.json()) as { data: Guide[] };
    return found.data;
  },
  staleTime: Number.POSITIVE_INFINITY,
});
