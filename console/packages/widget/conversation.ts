import { createRandomId, parseJson } from "@retinue/elements";
import { readEventStream, type StreamEvent } from "@retinue/events";
import {
  ChatError,
  createOwnerRefusalError,
  createRefusalError,
  fileRefusalKey,
  isAbortError,
  isUnanswerableError,
  type ServiceError,
} from "./chat_error";
import type {
  ChatService,
  Design,
  Question,
  ReplyEnd,
  ReplyListener,
  StoredFile,
  StoredMessage,
  Visitor,
} from "./chat_types";
import { waitMilliseconds, waitWhileHidden } from "./pauses";
import { recoverBrokenReply } from "./recovery";

export type Address = { baseUrl: string; agentId: string | null; apiKey: string | null; user: Visitor | null };

/** One visitor's conversation with one agent, over the public chat endpoint. */
export class PublicConversation implements ChatService {
  readonly storageName: string;
  readonly hasBegunBefore: boolean;
  sessionId: string;
  protected readonly baseUrl: string;
  protected readonly url: string;
  protected apiKey: string | null;
  protected readonly filesUrl: string;
  private readonly user: Visitor | null;

  constructor({ baseUrl, agentId, apiKey, user }: Address) {
    this.baseUrl = baseUrl;
    this.url = `${baseUrl}/api/v1/public/agents/${encodeURIComponent(String(agentId))}`;
    this.filesUrl = `${this.url}/files`;
    this.apiKey = apiKey;
    this.user = user;
    this.storageName = `retinue-chat:${agentId}:${user?.id ?? ""}`;
    const stored = readStoredConversation(this.storageName);
    this.hasBegunBefore = Boolean(stored);
    this.sessionId = stored ?? this.startAnew();
  }

  /** Hears where the service keeps what was said. */
  protected noteStart?(start: { conversation_id: string }): void;

  startAnew(): string {
    this.sessionId = createRandomId();
    writeStoredConversation(this.storageName, this.sessionId);
    return this.sessionId;
  }

  /** Say something. If the connection breaks, the reply is what the service has of it once it answers. */
  async sendQuestion({ text, files }: Question, listener: ReplyListener, signal: AbortSignal): Promise<ReplyEnd> {
    const attachments = files.length ? { attachments: files.map(({ file_id }) => ({ file_id })) } : {};
    const response = await this.sendOperation("chat", { message: text, stream: true, ...attachments }, signal);
    if (!response.ok) throw await createRefusalError(response);
    let messageId: string | undefined;
    for await (const { event, data: json } of readEventsUntilBreak(response)) {
      const data = JSON.parse(json);
      if (event === "message_start") {
        messageId = data.message_id as string;
        this.noteStart?.(data);
        listener.begin(messageId);
      }
      if (event === "content_delta") listener.hear(data.delta);
      if (event === "error")
        throw new ChatError(isUnanswerableError(data) ? "cannotAnswer" : "unanswered", { wasBegun: true });
      if (event === "message_stop") return data;
    }
    if (!messageId) throw new ChatError("unreachable");
    return { broken: await recoverBrokenReply(this, messageId, signal, listener.report) };
  }

  /** What was said in this session so far, oldest first. */
  async loadMessages(signal?: AbortSignal, waitFor?: string): Promise<StoredMessage[]> {
    const response = await this.sendOperation("transcript", waitFor ? { wait_for: waitFor } : {}, signal);
    if (!response.ok) throw await createRefusalError(response);
    return (await response.json()).messages;
  }

  /** Whether the service answers. This page may read its script whatever became of the key. */
  async isReachable(signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.fetchAddress(`${this.baseUrl}/embed/widget.js`, { method: "HEAD", cache: "no-store", signal }))
        .ok;
    } catch (error) {
      if (isAbortError(error)) throw error;
      return false;
    }
  }

  /** How the owner designed the widget; kept for the next page of this visit. */
  async loadDesign(): Promise<Design> {
    const response = await this.request("widget", { method: "GET" });
    if (response.status === 403) throw await createOwnerRefusalError(response);
    if (!response.ok) throw await createRefusalError(response);
    const design = await response.json();
    writeStoredConversation(`${this.storageName}:design`, JSON.stringify({ at: Date.now(), design }));
    return design;
  }

  readCachedDesign(name: string): { at: number; design: Design } | null {
    return parseJson(readStoredConversation(`${this.storageName}:${name}`));
  }

  /**
   * The reply once an approval has been decided, until `signal` says stop. The service holds each request until then,
   * for 20 seconds at most. A page that nobody looks at asks nothing, and after an hour there are pauses.
   */
  async waitForDecision(messageId: string, signal: AbortSignal): Promise<StoredMessage> {
    const begunAt = Date.now();
    for (;;) {
      await waitWhileHidden(signal);
      const askedAt = Date.now();
      let isHeld = true;
      const messages = await this.loadMessages(signal, messageId).catch((error) => {
        if (isAbortError(error) || error.mayRetry === false) throw error;
        isHeld = false;
        return [] as StoredMessage[];
      });
      const reply = messages.find((one) => one.id === messageId);
      if (reply && !reply.is_waiting) return reply;
      const isAtOnce = Date.now() - askedAt < 5000;
      await waitMilliseconds(!isHeld || isAtOnce ? 10000 : askedAt - begunAt > 3600000 ? 30000 : 0, signal);
    }
  }

  /** Upload a file for this session; `report` hears which share has arrived. Resolves to the stored file. */
  uploadFile(requestOperation: XMLHttpRequest, file: File, report: (share: number) => void): Promise<StoredFile> {
    const form = new FormData();
    form.append("session_id", this.sessionId);
    form.append("file", file);
    return new Promise((resolve, reject) => {
      requestOperation.upload.addEventListener(
        "progress",
        (event) => event.lengthComputable && report(event.loaded / event.total),
      );
      requestOperation.addEventListener("load", () => {
        const answer = parseJson<StoredFile & { error?: ServiceError }>(requestOperation.responseText);
        if (requestOperation.status === 201 && answer) resolve(answer);
        else
          reject(
            new ChatError(
              fileRefusalKey(requestOperation.status, answer?.error) ??
                (requestOperation.status === 429 ? "tooMany" : "failed"),
            ),
          );
      });
      for (const name of ["error", "abort", "timeout"])
        requestOperation.addEventListener(name, () => reject(new ChatError("unreachable")));
      requestOperation.open("POST", this.filesUrl);
      requestOperation.setRequestHeader("Authorization", `Bearer ${this.apiKey}`);
      requestOperation.send(form);
    });
  }

  protected sendOperation(operation: string, more: Record<string, unknown>, signal?: AbortSignal): Promise<Response> {
    const body = { session_id: this.sessionId, ...more, ...(this.user && { user: this.user }) };
    const headers = {
      Accept: more.stream ? "text/event-stream" : "application/json",
      "Content-Type": "application/json",
    };
    return this.request(operation, { method: "POST", headers, body: JSON.stringify(body), signal });
  }

  protected request(operation: string, options: RequestInit): Promise<Response> {
    const headers = { ...options.headers, Authorization: `Bearer ${this.apiKey}` };
    return this.fetchAddress(`${this.url}/${operation}`, { ...options, headers });
  }

  protected async fetchAddress(address: string, options: RequestInit): Promise<Response> {
    try {
      return await fetch(address, { ...options, credentials: "omit" });
    } catch (error) {
      if (isAbortError(error)) throw error;
      // The browser says no more: no network, or an origin or a key that the server refused.
      throw new ChatError("unreachable");
    }
  }
}

/** The events of a reply. A connection that breaks ends them; a visitor who stops it does not want the rest. */
async function* readEventsUntilBreak({ body }: Response): AsyncGenerator<StreamEvent> {
  if (!body) return;
  const events = readEventStream(body);
  try {
    for (;;) {
      const { done, value } = await events.next().catch((error) => {
        if (isAbortError(error)) throw error;
        return { done: true, value: undefined };
      });
      if (done || !value) return;
      yield value;
    }
  } finally {
    void events.return(undefined);
  }
}

// A page may have no storage: then the conversation lives as long as the page.
export function readStoredConversation(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function writeStoredConversation(name: string, value: string) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // See above.
  }
}
