import { findLiveTurn, type Turn } from "../../../shared/chat/chat";
import type { Store } from "../../../shared/store";

type Reading = { session: Store<{ turns: Turn[] }> & { hasUnsentRecording: boolean } };

/**
 * Conversations whose reply is being written, by id: leaving their page must not stop it. One with a recording that
 * was refused stays as well, as only the page has it.
 */
export class OpenThreads<Thread extends Reading> {
  readonly #open = new Map<string, Thread>();

  readonly find = (conversationId: string): Thread | undefined => this.#open.get(conversationId);

  /** Keep reading a reply until its end, also while another page is shown; `onWriting` hears when it begins and ends. */
  keep(conversationId: string, thread: Thread, onWriting: (isWriting: boolean) => void) {
    if (this.#open.get(conversationId) === thread) return;
    onWriting(true);
    this.#open.set(conversationId, thread);
    let isWriting = true;
    const leave = thread.session.subscribe(() => {
      const isLive = Boolean(findLiveTurn(thread.session.getSnapshot().turns)?.isLive);
      if (isLive !== isWriting) onWriting(isLive);
      isWriting = isLive;
      // A new conversation that the server does not have cannot be opened again.
      if (isLive || (conversationId && thread.session.hasUnsentRecording)) return;
      if (this.#open.get(conversationId) === thread) this.#open.delete(conversationId);
      // The page that shows the conversation may listen still.
      queueMicrotask(leave);
    });
  }
}
