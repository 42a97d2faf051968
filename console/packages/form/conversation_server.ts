import { type FormError, isOutage } from "./form_error";
import type { FormServer } from "./form_server";
import type {
  Answers,
  ConversationAnswerBody,
  ConversationMessage,
  ConversationState,
  ConversationTurn,
  PublishedForm,
} from "./form_types";
import { describePageOrigin, readPageParameter } from "./page_address";
import { findProofOfWork } from "./proof_of_work";

/** A conversation as the server has it, with the messages so far. */
export type StoredConversation = { state: ConversationState; messages: ConversationMessage[] };

const pathOf = (conversationId: string) => `/conversations/${encodeURIComponent(conversationId)}`;

/** The conversations about one form, on the server. */
export class ConversationServer {
  constructor(
    private readonly server: FormServer,
    private readonly form: PublishedForm,
  ) {}

  async start(): Promise<ConversationState & ConversationTurn> {
    const { token, settings } = this.form;
    const bits = settings.proof_of_work;
    const proof = token && bits ? await findProofOfWork(token, bits) : undefined;
    const origin = { metadata: describePageOrigin("conversation"), language: navigator.language };
    const body = { prefill: this.readHiddenAnswers(), ...origin, token, proof };
    return this.server.load("/conversations", { method: "POST", body });
  }

  private readHiddenAnswers(): Answers {
    const hidden = this.form.fields.filter(({ type }) => type === "hidden");
    const answers = hidden.map(({ id }) => [id, readPageParameter(id)] as const);
    return Object.fromEntries(answers.filter(([, answer]) => answer !== null));
  }

  /** Return the conversation of before a reload; null if it is over. A server that fails has not ended it. */
  async findActive(conversationId: string): Promise<StoredConversation | null> {
    const path = pathOf(conversationId);
    try {
      const state = await this.server.load<ConversationState>(path);
      if (state.status !== "active") return null;
      return { state, messages: await this.server.load<ConversationMessage[]>(`${path}/messages`) };
    } catch (error) {
      if (isOutage(error) || (error as FormError).status === 429) throw error;
      return null;
    }
  }

  /** With the same idempotency key, an answer that is sent again is stored once. */
  sendAnswer(conversationId: string, body: ConversationAnswerBody, idempotencyKey: string): Promise<ConversationTurn> {
    const headers = { "Idempotency-Key": idempotencyKey };
    return this.server.load(`${pathOf(conversationId)}/messages`, { method: "POST", body, headers });
  }

  /** Cancel the conversation, and return its answers so far; none if the server does not respond. */
  async cancel(conversationId: string): Promise<Answers> {
    const path = pathOf(conversationId);
    const state = await this.server.load<ConversationState>(path).catch(() => null);
    this.server.send(`${path}/cancel`, { method: "POST" }).catch(() => undefined);
    return state?.collected_data ?? {};
  }

  waitUntilReachable(isAwaited: () => boolean) {
    return this.server.waitUntilReachable(isAwaited);
  }
}
