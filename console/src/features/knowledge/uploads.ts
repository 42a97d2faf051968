import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useMemo, useSyncExternalStore } from "react";
import { uploadDocument } from "./queries";
import { UploadQueue } from "./upload_queue";

/** Files on their way to the knowledge of an agent. */
export function useUploadQueue(agentId: string) {
  const client = useQueryClient();
  const queue = useMemo(() => createUploadQueue(agentId, client), [agentId, client]);
  const { uploads } = useSyncExternalStore(queue.subscribe, queue.getSnapshot);
  return { uploads, queue };
}

const createUploadQueue = (agentId: string, client: QueryClient) =>
  new UploadQueue({
    send: async (file, duplicates, onProgress, signal) => {
      const started = await uploadDocument(agentId, file, duplicates, onProgress, signal);
      await client.invalidateQueries({ queryKey: ["knowledge", agentId] });
      return started.documents.length ? undefined : started.already_present?.[0];
    },
  });
