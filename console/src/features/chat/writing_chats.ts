import { useSyncExternalStore } from "react";

/** The chats whose reply is being written on this page. */
let writing: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Note that a reply is being written in a chat, or that it has ended. */
export function noteWritingChat(id: string, isWriting: boolean) {
  if (!id || writing.has(id) === isWriting) return;
  const next = new Set(writing);
  if (isWriting) next.add(id);
  else next.delete(id);
  writing = next;
  for (const listener of listeners) listener();
}

export const useIsWriting = (id: string) => useSyncExternalStore(subscribe, () => writing.has(id));
