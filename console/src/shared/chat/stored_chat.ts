/** The conversation of a playground, kept for this tab so that a reload goes on with it. */
export type StoredChat = { conversationId: string; messageId?: string; question?: string };

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
  if (chat) sessionStorage.setItem(keyOf(agentId), JSON.stringify(chat));
  else sessionStorage.removeItem(keyOf(agentId));
}
