import { useCallback, useEffect, useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import { upload } from "../../api/upload";
import { phraseOf } from "../refusals/refusals";

export type Attached = Pick<components["schemas"]["MessageAttachmentOut"], "file_id" | "filename" | "kind">;
export type AttachedUpload = {
  key: number;
  file: File;
  share: number;
  stored?: Attached;
  /** Why it cannot be sent. */
  problem?: "type" | "size" | "empty" | { message: string };
};

const IMAGES = [".png", ".jpg", ".jpeg", ".webp", ".gif"];
const SOUNDS = [".wav", ".mp3", ".webm", ".ogg", ".m4a", ".flac"];
const DOCUMENTS = [".pdf", ".docx", ".txt", ".md", ".markdown", ".csv", ".html", ".htm", ".json", ".xml"];
export const ENDINGS = [...IMAGES, ...DOCUMENTS, ...SOUNDS];
export const MAX_FILES = 10;
const MAX_FILE_BYTES = 25 * 1024 * 1024;

const endsWith = (name: string, endings: string[]) => endings.some((ending) => name.toLowerCase().endsWith(ending));

export const kindOf = (name: string): Attached["kind"] =>
  endsWith(name, IMAGES) ? "image" : endsWith(name, SOUNDS) ? "audio" : "document";

/** What is wrong with a file before anything of it is sent. */
export function problemOf(file: { name: string; size: number }): AttachedUpload["problem"] {
  if (!endsWith(file.name, ENDINGS)) return "type";
  if (file.size > MAX_FILE_BYTES) return "size";
  if (file.size === 0) return "empty";
}

/** Why the server refused the file at this place of a message. */
export function refusalOf(details: Record<string, unknown> | undefined, place: number): string | undefined {
  const said = details?.[`attachments.${place}`];
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

type FileOut = { data: components["schemas"]["FileOut"] };
let lastKey = 0;

/** Files for the next message: uploaded as soon as they are chosen. */
export function useAttachments() {
  const [uploads, setUploads] = useState<AttachedUpload[]>([]);
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
  const send = async ({ key, file }: AttachedUpload) => {
    const control = new AbortController();
    controls.current.set(key, control);
    const form = new FormData();
    form.append("purpose", "chat");
    form.append("file", file);
    try {
      const onProgress = (share: number) => change(key, { share });
      const { data } = await upload<FileOut>("/api/v1/files", form, onProgress, control.signal);
      change(key, { stored: { file_id: data.file_id, filename: data.filename, kind: kindOf(data.filename) } });
    } catch (error) {
      if (!control.signal.aborted) change(key, { problem: { message: asApiError(error).message } });
    } finally {
      controls.current.delete(key);
    }
  };
  const add = (files: File[]) => {
    const added = files.slice(0, MAX_FILES - uploads.length).map((file): AttachedUpload => {
      lastKey += 1;
      const problem = problemOf(file);
      return { key: lastKey, file, share: 0, ...(problem ? { problem } : {}) };
    });
    setUploads((all) => [...all, ...added]);
    for (const one of added) if (!one.problem) void send(one);
  };
  const dismiss = (key: number) => {
    controls.current.get(key)?.abort();
    setUploads((all) => all.filter((one) => one.key !== key));
  };
  const stored = uploads.flatMap((one) => (one.stored ? [one.stored] : []));
  return {
    uploads,
    stored,
    isUploading: uploads.some((one) => !one.stored && !one.problem),
    add,
    dismiss,
    clear: () => setUploads([]),
    putBack: (sent: AttachedUpload[]) => setUploads((all) => [...sent, ...all]),
  };
}
