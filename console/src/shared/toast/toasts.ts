import type { ReactNode } from "react";

export type Toast = { id: number; text: string; action?: ReactNode };

const SHOWN_MS = 6_000;
/** What can be clicked stays longer: it has to be read and reached. */
const SHOWN_WITH_ACTION_MS = 12_000;

let lastId = 0;
let shown: readonly Toast[] = [];
const listeners = new Set<() => void>();
const timers = new Map<number, ReturnType<typeof setTimeout>>();

function setShownToasts(next: readonly Toast[]) {
  shown = next;
  for (const listener of listeners) listener();
}

/** Say that something was done, with what can be done next. It goes by itself. */
export function showToast(text: string, action?: ReactNode) {
  lastId += 1;
  const added = { id: lastId, text, action };
  setShownToasts([...shown, added]);
  dismissLater(added);
}

/** Keep a toast for as long as somebody points at it or is inside it. */
export function holdToast({ id }: Toast) {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

/** Let a toast go after its time. */
export function dismissLater(one: Toast) {
  holdToast(one);
  timers.set(
    one.id,
    setTimeout(() => dismissToast(one), one.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS),
  );
}

export function dismissToast(gone: Toast) {
  holdToast(gone);
  setShownToasts(shown.filter((one) => one !== gone));
}

export const readShownToasts = () => shown;
export function subscribeToToasts(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
