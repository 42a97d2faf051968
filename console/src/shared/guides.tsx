import type { ReactNode } from "react";
import { basePath } from "../api/base";

/** The guides of this release, which the server itself serves. */
export const guideAddress = (page: string, part?: string) =>
  `${basePath}/docs/guides/${page}.md${part ? `#${part}` : ""}`;

/** A guide in a tab of its own, where the console has no screen yet. */
export const Guide = ({ page, part, children }: { page: string; part?: string; children: ReactNode }) => (
  <a href={guideAddress(page, part)} target="_blank" rel="noreferrer">
    {children}
  </a>
);
