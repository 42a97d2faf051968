/** Which approvals are listed. */
export const SHOWS = ["mine", "all", "decided"] as const;
export type Show = (typeof SHOWS)[number];
