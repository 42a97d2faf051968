import type { ReactNode } from "react";

export type Toast = { id: number; text: string; action?: ReactNode };

let lastId = 0;
let shown: readonly Toast[] = [];
const listeners = new Set<() => void>();

function set(next: readonly Toast[]) {
  shown = next;
  for (const listener of listeners) listener();
}

/** Say that something was done, with what can be done next. It goes by itself. */
export function toast(text: string, action?: ReactNode) {
  lastId += 1;
  set([...shown, { id: lastId, text, action }]);
}

export const dismiss = (id: number) => set(shown.filter((one) => one.id !== id));
export const shownToasts = () => shown;
export function subscribeToToasts(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
