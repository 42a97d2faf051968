import { attachmentDetail, attachmentKind, isAttachable, MAX_ATTACHMENTS } from "@retinue/attachments";
import { useCallback, useEffect, useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import { upload } from "../../api/upload";
import { phraseOf } from "../refusals/refusals";

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
export function attachmentProblem(file: { name: string; size: number }): AttachedUpload["problem"] {
  if (!isAttachable(file.name)) return "type";
  if (file.size > MAX_FILE_BYTES) return "size";
  if (file.size === 0) return "empty";
}

/** Why the server refused the file at this place of a message. */
export function refusalOf(details: Record<string, unknown> | undefined, place: number): string | undefined {
  const said = attachmentDetail(details, place);
  return typeof said === "string" ? phraseOf(said) : undefined;
}

/** The files of a message that was refused: those that the server named are marked and not sent again. */
export function withRefusals(uploads: AttachedUpload[], details?: Record<string, unknown>): AttachedUpload[] {
  const sent = uploads.filter((one) => one.stored);
  return uploads.map((one) => {
    const message = one.stored && refusalOf(details, sent.indexOf(one));
    return message ? { ...one, stored: undefined, problem: { message } } : one;
  });
}

const newUpload = (part: Omit<AttachedUpload, "key" | "share">): AttachedUpload => {
  lastKey += 1;
  return { key: lastKey, share: 0, ...part };
};

/** A file that the server has, as one of the next message. */
export const uploadOf = (stored: Attached) => newUpload({ file: { name: stored.filename }, stored });

type FileOut = { data: components["schemas"]["FileOut"] };
let lastKey = 0;

/** Whether a file can never be sent; one whose upload broke off can be attached again. */
const isRefused = ({ problem }: AttachedUpload) => typeof problem === "string" && problem !== "cut";

type Kept = { files: Attached[]; cutFiles: string[] };

/** Files for the next message: uploaded as soon as they are chosen. `kept` are those from before a reload. */
export function useAttachments(kept: Kept = { files: [], cutFiles: [] }) {
  const [uploads, setUploads] = useState<AttachedUpload[]>(() => [
    ...kept.files.map(uploadOf),
    ...kept.cutFiles.map((name) => newUpload({ file: { name }, problem: "cut" })),
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
      const { data } = await upload<FileOut>("/api/v1/files", form, onProgress, control.signal);
      change(key, { stored: { file_id: data.file_id, filename: data.filename, kind: attachmentKind(data.filename) } });
    } catch (error) {
      if (!control.signal.aborted) change(key, { problem: { message: asApiError(error).message } });
    } finally {
      controls.current.delete(key);
    }
  };
  const addFiles = (files: File[]) => {
    const added = files.slice(0, MAX_ATTACHMENTS - uploads.length).map((file) => {
      const problem = attachmentProblem(file);
      return { file, upload: newUpload({ file, ...(problem ? { problem } : {}) }) };
    });
    setUploads((all) => [...all, ...added.map(({ upload }) => upload)]);
    for (const { file, upload } of added) if (!upload.problem) void uploadFile(upload.key, file);
  };
  const dismiss = (key: number) => {
    controls.current.get(key)?.abort();
    setUploads((all) => all.filter((one) => one.key !== key));
  };
  const stored = uploads.flatMap((one) => (one.stored ? [one.stored] : []));
  /** Files of a message that got no answer, unless they are there already. */
  const putBack = useCallback(
    (sent: AttachedUpload[]) =>
      setUploads((all) => {
        const isThere = (one: AttachedUpload) =>
          all.some(({ key, stored }) => key === one.key || (stored && stored.file_id === one.stored?.file_id));
        return [...sent.filter((one) => !isThere(one)), ...all];
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
    unstored: uploads.flatMap((one) => (one.stored || isRefused(one) ? [] : [one.file.name])),
    isUploading: uploads.some((one) => !one.stored && !one.problem),
    add: addFiles,
    dismiss,
    clear: () => setUploads([]),
    putBack,
    forget,
  };
}
