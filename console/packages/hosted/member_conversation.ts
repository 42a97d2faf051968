import type { components } from "@retinue/client/schema";
import { ChatError, createRefusalError } from "@retinue/widget/chat_error";
import type { StoredFile, StoredMessage } from "@retinue/widget/chat_types";
import { readStoredConversation, writeStoredConversation } from "@retinue/widget/conversation";
import { PageConversation, type PageRating } from "./page_conversation";
import type { MemberToken } from "./page_service";

type MessageOut = components["schemas"]["MessageOut"];
type MessagePage = { data: MessageOut[]; pagination: { total: number } };
type Body = Record<string, unknown>;

/** As many as the service hands out at once. */
const MAX_MESSAGES = 100;

/** A message as the chat shows it. */
export function toStoredMessage({ id, role, content, status, details, attachments }: MessageOut): StoredMessage {
  const reason = details?.finish_reason;
  const isWaiting = reason === "awaiting_approval";
  return {
    id,
    role,
    content,
    is_waiting: isWaiting,
    has_failed: status === "incomplete" && !isWaiting && reason !== "cancelled",
    sources: details?.sources ?? [],
    attachments,
  } as StoredMessage;
}

/** A member's conversation, over the ordinary chat with their own token. */
export class MemberConversation extends PageConversation {
  protected override readonly filesUrl: string;
  private readonly chatUrl: string;

  constructor(
    baseUrl: string,
    agentId: string,
    private readonly token: MemberToken,
  ) {
    super({ baseUrl, agentId: `${agentId}:member`, apiKey: null });
    this.chatUrl = `${baseUrl}/api/v1/agents/${encodeURIComponent(agentId)}`;
    this.filesUrl = `${baseUrl}/api/v1/files`;
  }

  /** The last hundred messages. They come oldest first: of a long conversation, the last two pages hold them. */
  override async loadMessages(signal?: AbortSignal): Promise<StoredMessage[]> {
    const id = this.conversationId;
    if (!id) return [];
    const first = await this.loadMessagePage(id, 1, signal);
    const pages = Math.ceil(first.pagination.total / MAX_MESSAGES);
    if (pages < 2) return first.data.map(toStoredMessage);
    const [before, last] = await Promise.all([
      pages > 2 ? this.loadMessagePage(id, pages - 1, signal) : first,
      this.loadMessagePage(id, pages, signal),
    ]);
    return [...before.data, ...last.data].slice(-MAX_MESSAGES).map(toStoredMessage);
  }

  override async rateReply(messageId: string, rating: PageRating): Promise<void> {
    const response = await this.post(`${this.chatUrl}/messages/${messageId}/feedback`, { rating });
    if (!response.ok) throw new ChatError("failed");
  }

  override async uploadFile(...upload: Parameters<PageConversation["uploadFile"]>): Promise<StoredFile> {
    this.apiKey = (await this.token.find()) ?? null;
    const { data } = (await super.uploadFile(...upload)) as unknown as { data: StoredFile };
    return data;
  }

  protected override noteStart(start: { conversation_id: string }) {
    writeStoredConversation(this.conversationName, start.conversation_id);
  }

  protected override async stopReply(messageId: string): Promise<void> {
    await this.post(`${this.chatUrl}/chat/${messageId}/stop`, {});
  }

  protected override sendOperation(_operation: string, more: Body, signal?: AbortSignal): Promise<Response> {
    const id = this.conversationId;
    const { stream: _, ...body } = more;
    return this.post(`${this.chatUrl}/chat/stream`, { ...body, ...(id && { conversation_id: id }) }, signal);
  }

  private async loadMessagePage(id: string, page: number, signal?: AbortSignal): Promise<MessagePage> {
    const address = `${this.baseUrl}/api/v1/conversations/${encodeURIComponent(id)}/messages`;
    const query = `?per_page=${MAX_MESSAGES}&page=${page}`;
    const response = await this.sendAsMember(address + query, { method: "GET", signal: signal ?? null });
    // Somebody else was signed in here, or the conversation was deleted.
    if (response.status === 404) this.startAnew();
    if (!response.ok) throw await createRefusalError(response);
    return await response.json();
  }

  private get conversationName() {
    return `${this.storageName}:${this.sessionId}:conversation`;
  }

  private get conversationId(): string | null {
    return readStoredConversation(this.conversationName);
  }

  private post(address: string, body: Body, signal?: AbortSignal): Promise<Response> {
    const headers = { "Content-Type": "application/json" };
    return this.sendAsMember(address, { method: "POST", headers, body: JSON.stringify(body), signal: signal ?? null });
  }

  private async sendAsMember(address: string, options: RequestInit): Promise<Response> {
    const send = async () => {
      const token = await this.token.find();
      const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
      return this.fetchAddress(address, { ...options, headers });
    };
    const response = await send();
    if (response.status !== 401) return response;
    this.token.forget();
    return send();
  }
}
