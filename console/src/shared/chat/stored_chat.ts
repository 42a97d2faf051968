import type { Attached } from "./attachments";

/** The conversation of a playground, kept in this tab so that a reload restores it. */
export type StoredChat = {
  conversationId: string;
  /** The reply that is being written, or that broke off: what was asked, and what has come of it. */
  messageId?: string;
  question?: string;
  attachments?: Attached[];
  text?: string;
};

const keyOf = (agentId: string) => `retinue.playground.${agentId}`;

export function readChat(agentId: string): StoredChat | undefined {
  try {
    const found = JSON.parse(sessionStorage.getItem(keyOf(agentId)) ?? "null") as StoredChat | null;
    return found?.conversationId ? found : undefined;
  } catch {
    return undefined;
  }
}

export function storeChat(agentId: string, chat?: StoredChat) {
  try {
    if (chat) sessionStorage.setItem(keyOf(agentId), JSON.stringify(chat));
    else sessionStorage.removeItem(keyOf(agentId));
  } catch {
    // A full or forbidden store only costs what a reload would lose.
  }
}
