import { ChatError } from "@retinue/widget/chat_error";
import type { ChatService, Question, ReplyEnd, ReplyListener } from "@retinue/widget/chat_types";
import { type Address, PublicConversation } from "@retinue/widget/conversation";

export type PageRating = "positive" | "negative" | "none";

/** A conversation of a hosted page: replies can be rated, and stopping one stops it on the server. */
export interface PageChat extends ChatService {
  rateReply?(messageId: string, rating: PageRating): Promise<void>;
  /** Called when the service says that there is no answer for now. */
  onRefused?: () => void;
}

/** A visitor's conversation, within the limits of the page's embed key. */
export class PageConversation extends PublicConversation implements PageChat {
  onRefused?: () => void;

  constructor(address: Omit<Address, "user">) {
    super({ ...address, user: null });
  }

  override async sendQuestion(question: Question, listener: ReplyListener, signal: AbortSignal): Promise<ReplyEnd> {
    let messageId: string | undefined;
    const begin = (id?: string) => {
      messageId = id;
      listener.begin(id);
    };
    const stopReply = () => void (messageId && this.stopReply(messageId).catch(() => undefined));
    signal.addEventListener("abort", stopReply, { once: true });
    try {
      return await super.sendQuestion(question, { ...listener, begin }, signal);
    } catch (error) {
      if (error instanceof ChatError && error.message === "cannotAnswer") this.onRefused?.();
      throw error;
    } finally {
      signal.removeEventListener("abort", stopReply);
    }
  }

  async rateReply(messageId: string, rating: PageRating): Promise<void> {
    const response = await this.sendOperation("feedback", { message_id: messageId, rating });
    if (!response.ok) throw new ChatError("failed");
  }

  protected async stopReply(messageId: string): Promise<void> {
    await this.sendOperation("stop", { message_id: messageId });
  }
}
