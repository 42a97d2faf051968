import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { uploadForm } from "../../api/upload";
import type { DocumentFilters } from "./filters";

export type Document = components["schemas"]["DocumentOut"];
export type Passage = components["schemas"]["PassageOut"];
export type Action = components["schemas"]["DocumentBatch"]["action"];
type Started = components["schemas"]["TrainingStarted"];

export const DOCUMENTS_PER_PAGE = 50;
const PASSAGES_PER_PAGE = 20;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;

const isUnfinishedDocument = (one: Document) => one.status === "pending" || one.status === "indexing";

/**
 * There is no stream of indexing progress. While something is indexed, the list is read again, less often the longer
 * nothing has moved; in a hidden tab it rests.
 */
function refetchIntervalMs(documents: Document[] = []): number | false {
  const waiting = documents.filter(isUnfinishedDocument);
  if (!waiting.length) return false;
  const moved = Math.max(...waiting.map((one) => Date.parse(one.updated_at)));
  return Math.min(Math.max((Date.now() - moved) / 4, FIRST_WAIT_MS), LONGEST_WAIT_MS);
}

export const documentsQuery = (agentId: string, { search, status, page }: DocumentFilters) =>
  queryOptions({
    queryKey: ["knowledge", agentId, "documents", { search, status, page }],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/agents/{agent_id}/documents", {
          params: {
            path: { agent_id: agentId },
            query: {
              per_page: DOCUMENTS_PER_PAGE,
              page: page ?? 1,
              ...(search ? { search } : {}),
              ...(status ? { status } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => refetchIntervalMs(state.data?.data),
  });

export const documentQuery = (agentId: string, documentId: string) =>
  queryOptions({
    queryKey: ["knowledge", agentId, "document", documentId],
    queryFn: () =>
      unwrapData(
        api.GET("/api/v1/agents/{agent_id}/documents/{document_id}", {
          params: { path: { agent_id: agentId, document_id: documentId } },
        }),
      ),
  });

export const passagesQuery = (agentId: string, documentId: string) =>
  infiniteQueryOptions({
    queryKey: ["knowledge", agentId, "passages", documentId],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      unwrapData(
        api.GET("/api/v1/agents/{agent_id}/documents/{document_id}/chunks", {
          params: {
            path: { agent_id: agentId, document_id: documentId },
            query: { page: pageParam, per_page: PASSAGES_PER_PAGE },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ pagination }) => (pagination.page < pagination.total_pages ? pagination.page + 1 : undefined),
  });

/** What the index finds for a question, near misses included. */
export const searchIndex = async (agentId: string, query: string): Promise<Passage[]> =>
  (
    await unwrapData(
      api.POST("/api/v1/agents/{agent_id}/knowledge/search", {
        params: { path: { agent_id: agentId } },
        body: { query, top_k: 10, explain: true },
      }),
    )
  ).data;

export const changeDocuments = (agentId: string, action: Action, ids: string[]) =>
  unwrapData(
    api.POST("/api/v1/agents/{agent_id}/documents/batch", {
      params: { path: { agent_id: agentId } },
      body: { action, ids },
    }),
  );

/** A change of documents; everything that shows knowledge of this agent is read again. */
export function useDocumentChange(agentId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ action, ids }: { action: Action; ids: string[] }) => changeDocuments(agentId, action, ids),
    onSettled: () => client.invalidateQueries({ queryKey: ["knowledge", agentId] }),
  });
}

export type Duplicates = "add" | "skip";

/** Send a file. With `skip`, one whose content the agent has already is not added: the answer names the document. */
export function uploadDocument(
  agentId: string,
  file: File,
  duplicates: Duplicates,
  onProgress: (share: number) => void,
  signal: AbortSignal,
) {
  const form = new FormData();
  form.append("files", file, file.name);
  return uploadForm<Started>(`/api/v1/agents/${agentId}/train?duplicates=${duplicates}`, form, onProgress, signal);
}
