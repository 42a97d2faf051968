import { createAddressReader, readOneOf, readPageNumber, readText } from "../../shared/list/address";

export const DOCUMENT_STATUSES = ["indexed", "indexing", "pending", "failed"] as const;
export type DocumentFilters = {
  search?: string;
  status?: (typeof DOCUMENT_STATUSES)[number];
  page?: number;
  /** The document whose passages are shown. */
  document?: string;
};

export const readDocumentFilters = createAddressReader<DocumentFilters>({
  search: readText,
  status: readOneOf(DOCUMENT_STATUSES),
  page: readPageNumber,
  document: readText,
});
