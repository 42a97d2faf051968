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

const storageKeyOf = (place: string) => `retinue.playground.${place}`;

export function readStoredChat(place: string): StoredChat | undefined {
  try {
    const found = JSON.parse(sessionStorage.getItem(storageKeyOf(place)) ?? "null") as StoredChat | null;
    return found?.conversationId ? found : undefined;
  } catch {
    return undefined;
  }
}

export function storeChat(place: string, chat?: StoredChat) {
  try {
    if (chat) sessionStorage.setItem(storageKeyOf(place), JSON.stringify(chat));
    else sessionStorage.removeItem(storageKeyOf(place));
  } catch {
    // A full or forbidden store only costs what a reload would lose.
  }
}
