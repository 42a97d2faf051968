export const DOCUMENT_STATUSES = ["indexed", "indexing", "pending", "failed"] as const;
export type DocumentFilters = {
  search?: string;
  status?: (typeof DOCUMENT_STATUSES)[number];
  page?: number;
  /** The document whose passages are shown. */
  document?: string;
};

const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);

export function readDocumentFilters(search: Record<string, unknown>): DocumentFilters {
  const status = DOCUMENT_STATUSES.find((one) => one === search.status);
  const page = Math.floor(Number(search.page));
  const found = text(search.search);
  const document = text(search.document);
  return {
    ...(found ? { search: found } : {}),
    ...(status ? { status } : {}),
    ...(page > 1 ? { page } : {}),
    ...(document ? { document } : {}),
  };
}
