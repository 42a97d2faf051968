import { asApiError } from "../../api/errors";
import { Store } from "../../shared/store";
import type { Duplicates } from "./queries";

export const EXTENSIONS = [".pdf", ".docx", ".md", ".markdown", ".txt", ".csv"];
const MAX_FILE_BYTES = 25 * 1024 * 1024;
const MAX_SENDING = 2;

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
export function findUploadProblem(file: { name: string; size: number }): UploadProblem | undefined {
  const name = file.name.toLowerCase();
  if (!EXTENSIONS.some((extension) => name.endsWith(extension))) return "type";
  if (file.size > MAX_FILE_BYTES) return "size";
  if (file.size === 0) return "empty";
}

/** Whether a file still has to arrive; leaving the page gives it up. */
export const isUploadUnderWay = ({ state }: Upload) => state === "waiting" || state === "sending";

type UploadQueueOptions = {
  /** Sends a file; returns the document that has its content already, if it was left out for that. */
  send: (
    file: File,
    duplicates: Duplicates,
    onProgress: (share: number) => void,
    signal: AbortSignal,
  ) => Promise<Upload["twin"]>;
};

/** Files on their way to the server, two at a time; one that has arrived is a row of the documents. */
export class UploadQueue extends Store<{ uploads: Upload[] }> {
  readonly #options: UploadQueueOptions;
  readonly #sending = new Map<number, AbortController>();
  #lastKey = 0;

  constructor(options: UploadQueueOptions) {
    super({ uploads: [] });
    this.#options = options;
  }

  readonly add = (files: File[]) => {
    const added = files.map((file): Upload => {
      const problem = findUploadProblem(file);
      this.#lastKey += 1;
      const state = problem ? "failed" : "waiting";
      return { key: this.#lastKey, file, share: 0, state, duplicates: "skip", ...(problem ? { problem } : {}) };
    });
    this.update({ uploads: [...this.getSnapshot().uploads, ...added] });
    this.#sendWaiting();
  };

  readonly retry = (key: number) => {
    this.#change(key, { state: "waiting", problem: undefined });
    this.#sendWaiting();
  };

  /** Send a file again whose content is there already. */
  readonly addAnyway = (key: number) => {
    this.#change(key, { state: "waiting", duplicates: "add" });
    this.#sendWaiting();
  };

  readonly dismiss = (key: number) => {
    this.#sending.get(key)?.abort();
    this.update({ uploads: this.getSnapshot().uploads.filter((one) => one.key !== key) });
    this.#sendWaiting();
  };

  protected override deactivate() {
    for (const sending of this.#sending.values()) sending.abort();
  }

  #sendWaiting() {
    const { uploads } = this.getSnapshot();
    const free = MAX_SENDING - uploads.filter(({ state }) => state === "sending").length;
    const next = uploads.filter(({ state }) => state === "waiting").slice(0, Math.max(0, free));
    for (const upload of next) void this.#send(upload);
  }

  async #send({ key, file, duplicates }: Upload) {
    const control = new AbortController();
    this.#sending.set(key, control);
    this.#change(key, { state: "sending", share: 0, problem: undefined });
    try {
      const onProgress = (share: number) => this.#change(key, { share });
      const twin = await this.#options.send(file, duplicates, onProgress, control.signal);
      if (twin) this.#change(key, { state: "known", twin });
      else this.dismiss(key);
    } catch (error) {
      const problem = { message: asApiError(error).message };
      if (!control.signal.aborted) this.#change(key, { state: "failed", problem });
    } finally {
      this.#sending.delete(key);
      if (!control.signal.aborted) this.#sendWaiting();
    }
  }

  #change(key: number, part: Partial<Upload>) {
    const { uploads } = this.getSnapshot();
    this.update({ uploads: uploads.map((one) => (one.key === key ? { ...one, ...part } : one)) });
  }
}
