import { attachmentKindOf, findAttachmentDetail, isAttachable, MAX_ATTACHMENTS } from "@retinue/attachments";
import { useCallback, useEffect, useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import { uploadForm } from "../../api/upload";
import { translateProblem } from "../refusals/refusals";

export type Attached = Pick<components["schemas"]["MessageAttachmentOut"], "file_id" | "filename" | "kind">;
export type AttachedUpload = {
  key: number;
  /** After a reload only the name of a file is known. */
  file: File | { name: string };
  share: number;
  stored?: Attached;
  /** Why it cannot be sent. */
  problem?: "type" | "size" | "empty" | "cut" | { message: string };
};

const MAX_FILE_BYTES = 25 * 1024 * 1024;

/** What is wrong with a file before anything of it is sent. */
export function findAttachmentProblem(file: { name: string; size: number }): AttachedUpload["problem"] {
  if (!isAttachable(file.name)) return "type";
  if (file.size > MAX_FILE_BYTES) return "size";
  if (file.size === 0) return "empty";
}

/** Why the server refused the file at this place of a message. */
export function findFileRefusal(details: Record<string, unknown> | undefined, place: number): string | undefined {
  const said = findAttachmentDetail(details, place);
  return typeof said === "string" ? translateProblem(said) : undefined;
}

/** The files of a message that was refused: those that the server named are marked and not sent again. */
export function markRefusedUploads(uploads: AttachedUpload[], details?: Record<string, unknown>): AttachedUpload[] {
  const sent = uploads.filter((one) => one.stored);
  return uploads.map((one) => {
    const message = one.stored && findFileRefusal(details, sent.indexOf(one));
    return message ? { ...one, stored: undefined, problem: { message } } : one;
  });
}

const createUpload = (part: Omit<AttachedUpload, "key" | "share">): AttachedUpload => {
  lastKey += 1;
  return { key: lastKey, share: 0, ...part };
};

/** A file that the server has, as one of the next message. */
export const restoreUpload = (stored: Attached) => createUpload({ file: { name: stored.filename }, stored });

type FileOut = { data: components["schemas"]["FileOut"] };
let lastKey = 0;

/** Whether a file can never be sent; one whose upload broke off can be attached again. */
const isRefusedUpload = ({ problem }: AttachedUpload) => typeof problem === "string" && problem !== "cut";

type Kept = { files: Attached[]; cutFiles: string[] };

/** Files for the next message: uploaded as soon as they are chosen. `kept` are those from before a reload. */
export function useAttachments(kept: Kept = { files: [], cutFiles: [] }) {
  const [uploads, setUploads] = useState<AttachedUpload[]>(() => [
    ...kept.files.map(restoreUpload),
    ...kept.cutFiles.map((name) => createUpload({ file: { name }, problem: "cut" })),
  ]);
  const controls = useRef(new Map<number, AbortController>());
  useEffect(() => {
    const open = controls.current;
    return () => {
      for (const control of open.values()) control.abort();
    };
  }, []);
  const change = useCallback((key: number, part: Partial<AttachedUpload>) => {
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...part } : one)));
  }, []);
  const uploadFile = async (key: number, file: File) => {
    const control = new AbortController();
    controls.current.set(key, control);
    const form = new FormData();
    form.append("purpose", "chat");
    form.append("file", file);
    try {
      const onProgress = (share: number) => change(key, { share });
      const { data } = await uploadForm<FileOut>("/api/v1/files", form, onProgress, control.signal);
      change(key, {
        stored: { file_id: data.file_id, filename: data.filename, kind: attachmentKindOf(data.filename) },
      });
    } catch (error) {
      if (!control.signal.aborted) change(key, { problem: { message: asApiError(error).message } });
    } finally {
      controls.current.delete(key);
    }
  };
  const addFiles = (files: File[]) => {
    const added = files.slice(0, MAX_ATTACHMENTS - uploads.length).map((file) => {
      const problem = findAttachmentProblem(file);
      return { file, upload: createUpload({ file, ...(problem ? { problem } : {}) }) };
    });
    setUploads((all) => [...all, ...added.map(({ upload }) => upload)]);
    for (const { file, upload } of added) if (!upload.problem) void uploadFile(upload.key, file);
  };
  const dismissUpload = (key: number) => {
    controls.current.get(key)?.abort();
    setUploads((all) => all.filter((one) => one.key !== key));
  };
  const stored = uploads.flatMap((one) => (one.stored ? [one.stored] : []));
  /** Files of a message that got no answer, unless they are there already. */
  const putBack = useCallback(
    (sent: AttachedUpload[]) =>
      setUploads((all) => {
        const isStillListed = (one: AttachedUpload) =>
          all.some(({ key, stored }) => key === one.key || (stored && stored.file_id === one.stored?.file_id));
        return [...sent.filter((one) => !isStillListed(one)), ...all];
      }),
    [],
  );
  /** Take away files that turn out to be sent. */
  const forget = useCallback(
    (ids: string[]) => setUploads((all) => all.filter(({ stored }) => !stored || !ids.includes(stored.file_id))),
    [],
  );
  return {
    uploads,
    stored,
    /** Names of those that would not survive a reload. */
    unstored: uploads.flatMap((one) => (one.stored || isRefusedUpload(one) ? [] : [one.file.name])),
    isUploading: uploads.some((one) => !one.stored && !one.problem),
    add: addFiles,
    dismiss: dismissUpload,
    clear: () => setUploads([]),
    putBack,
    forget,
  };
}
