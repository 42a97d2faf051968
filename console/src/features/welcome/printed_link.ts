/** The token of a printed link, given as the whole link or alone. */
export const extractToken = (pasted: string) => pasted.trim().split("#").at(-1) ?? "";
