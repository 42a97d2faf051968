import { apiUrlOf, exchangeAsUser } from "../../api/client";
import { type ApiError, asApiError } from "../../api/errors";
import { Store } from "../../shared/store";
import type { PlannedRequest } from "./request_draft";

const MAX_SHOWN_CHARACTERS = 200_000;

export type TrialAnswer = {
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  milliseconds: number;
  type: string;
  text: string;
  /** How long a file is that is not shown as text. */
  bytes?: number;
  isWhole: boolean;
};
type TrialState = { isRunning: boolean; answer?: TrialAnswer; error?: ApiError };

function toRequest({ method, path, headers, json, parts }: PlannedRequest, signal: AbortSignal): Request {
  let body: BodyInit | undefined = json;
  if (parts) {
    const form = new FormData();
    for (const [name, value] of Object.entries(parts))
      if (typeof value === "string") form.append(name, value);
      else for (const file of value) form.append(name, file);
    body = form;
  }
  const type: Record<string, string> = json === undefined ? {} : { "Content-Type": "application/json" };
  return new Request(apiUrlOf(path), { method, headers: { ...type, ...headers }, body, signal });
}

/** Sends requests as the signed-in person and keeps the last answer, also while a stream is still coming. */
export class ApiTrial extends Store<TrialState> {
  #stop?: AbortController;

  constructor() {
    super({ isRunning: false });
  }

  async send(plan: PlannedRequest): Promise<void> {
    this.stop();
    const stop = new AbortController();
    this.#stop = stop;
    this.update({ isRunning: true, error: undefined, answer: undefined });
    const startedMs = performance.now();
    try {
      const response = await exchangeAsUser(toRequest(plan, stop.signal));
      await this.#read(response, performance.now() - startedMs, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) this.update({ error: asApiError(error) });
    } finally {
      if (this.#stop === stop) this.update({ isRunning: false });
    }
  }

  stop(): void {
    this.#stop?.abort();
  }

  protected override deactivate(): void {
    this.stop();
  }

  async #read(response: Response, milliseconds: number, signal: AbortSignal) {
    const type = response.headers.get("Content-Type") ?? "";
    const answer: TrialAnswer = {
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers],
      milliseconds,
      type,
      text: "",
      isWhole: true,
    };
    this.update({ answer });
    if (!/json|^text\//.test(type)) {
      const { size } = await response.blob();
      this.update({ answer: { ...answer, bytes: size } });
      return;
    }
    let text = "";
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader?.read(); part && !part.done && !signal.aborted; part = await reader?.read()) {
      text += part.value;
      if (text.length > MAX_SHOWN_CHARACTERS) break;
      if (type.startsWith("text/event-stream")) this.update({ answer: { ...answer, text } });
    }
    const isWhole = text.length <= MAX_SHOWN_CHARACTERS;
    if (!isWhole) void reader?.cancel();
    this.update({ answer: { ...answer, text: text.slice(0, MAX_SHOWN_CHARACTERS), isWhole } });
  }
}
