import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import { type Duplicates, sendFile } from "./queries";

export const EXTENSIONS = [".pdf", ".docx", ".md", ".markdown", ".txt", ".csv"];
export const MAX_FILE_BYTES = 25 * 1024 * 1024;
const AT_ONCE = 2;

export type UploadProblem = "type" | "size" | "empty" | { message: string };
export type Upload = {
  key: number;
  file: File;
  share: number;
  state: "waiting" | "sending" | "failed" | "known";
  problem?: UploadProblem;
  duplicates: Duplicates;
  /** The document that has this content already. */
  twin?: { id: string; name: string };
};

/** What is wrong with a file before anything of it is sent. */
export function uploadProblem(file: { name: string; size: number }): UploadProblem | undefined {
  const name = file.name.toLowerCase();
  if (!EXTENSIONS.some((extension) => name.endsWith(extension))) return "type";
  if (file.size > MAX_FILE_BYTES) return "size";
  if (file.size === 0) return "empty";
}

let lastKey = 0;

/** Files on their way to the server, two at a time; one that has arrived is a row of the documents. */
export function useUploads(agentId: string) {
  const client = useQueryClient();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const controls = useRef(new Map<number, AbortController>());
  useEffect(() => {
    const open = controls.current;
    return () => {
      for (const control of open.values()) control.abort();
    };
  }, []);

  const change = useCallback((key: number, part: Partial<Upload>) => {
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...part } : one)));
  }, []);
  const dismiss = useCallback((key: number) => {
    controls.current.get(key)?.abort();
    setUploads((all) => all.filter((one) => one.key !== key));
  }, []);

  const send = useCallback(
    async ({ key, file, duplicates }: Upload) => {
      const control = new AbortController();
      controls.current.set(key, control);
      change(key, { state: "sending", share: 0, problem: undefined });
      try {
        const progress = (share: number) => change(key, { share });
        const started = await sendFile(agentId, file, duplicates, progress, control.signal);
        await client.invalidateQueries({ queryKey: ["knowledge", agentId] });
        const twin = started.documents.length ? undefined : started.already_present?.[0];
        if (twin) change(key, { state: "known", twin });
        else dismiss(key);
      } catch (error) {
        if (!control.signal.aborted) change(key, { state: "failed", problem: { message: asApiError(error).message } });
      } finally {
        controls.current.delete(key);
      }
    },
    [agentId, change, client, dismiss],
  );

  useEffect(() => {
    const next = uploads.find((one) => one.state === "waiting");
    if (next && uploads.filter((one) => one.state === "sending").length < AT_ONCE) void send(next);
  }, [uploads, send]);

  const add = useCallback((files: File[]) => {
    const added = files.map((file): Upload => {
      const problem = uploadProblem(file);
      lastKey += 1;
      const state = problem ? "failed" : "waiting";
      return { key: lastKey, file, share: 0, state, duplicates: "skip", ...(problem ? { problem } : {}) };
    });
    setUploads((all) => [...all, ...added]);
  }, []);
  const retry = useCallback((key: number) => change(key, { state: "waiting", problem: undefined }), [change]);
  const addAnyway = useCallback((key: number) => change(key, { state: "waiting", duplicates: "add" }), [change]);
  return { uploads, add, addAnyway, retry, dismiss };
}
