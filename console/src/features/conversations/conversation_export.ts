import { Store } from "../../shared/store";

/** How many conversations have come, while they come; `error` is why the last export ended early. */
export type ExportProgress = { isRunning: boolean; count: number; error?: Error };
type ReadExport = (signal: AbortSignal) => Promise<Pick<Response, "body">>;

const NEWLINE = 10;

/** Saves conversations as JSON Lines: the answer is counted as it streams, and kept as it came. */
export class ConversationExport extends Store<ExportProgress> {
  readonly #save: (file: Blob) => void;
  #running?: AbortController;

  constructor(save: (file: Blob) => void) {
    super({ isRunning: false, count: 0 });
    this.#save = save;
  }

  readonly start = async (read: ReadExport): Promise<void> => {
    if (this.#running) return;
    const running = new AbortController();
    this.#running = running;
    this.update({ isRunning: true, count: 0, error: undefined });
    try {
      const chunks = await this.#readChunks(await read(running.signal), running.signal);
      if (!running.signal.aborted) this.#save(new Blob(chunks, { type: "application/x-ndjson" }));
    } catch (error) {
      if (!running.signal.aborted) this.update({ error: error as Error });
    } finally {
      this.#running = undefined;
      this.update({ isRunning: false });
    }
  };

  /** Give up; nothing is saved. */
  readonly stop = (): void => this.#running?.abort();

  async #readChunks({ body }: Pick<Response, "body">, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>[]> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    const reader = body?.getReader();
    for (let piece = await reader?.read(); piece && !piece.done && !signal.aborted; piece = await reader?.read()) {
      chunks.push(piece.value);
      this.update({ count: this.getSnapshot().count + countLines(piece.value) });
    }
    return chunks;
  }
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
