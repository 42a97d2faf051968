import { type RefObject, useEffect, useRef } from "react";
import { useShortcutKeys } from "./keys";

/** What a page can do: a line of the palette and, with `keys`, a shortcut such as "c" or "mod+s". */
export type PageCommand = { label: string; keys?: string; run: () => void };
/** A command that is read off the page; a tab leads to another part of the same object. */
export type ReadCommand = PageCommand & { to?: string };

/** Marks the element whose buttons and links the palette offers. */
export const COMMANDS_MARK = { "data-commands": "" };
/** A button that opens a menu or a dialog must not act before the palette has given back the focus. */
const AFTER_CLOSE_MS = 60;

const registered: RefObject<readonly PageCommand[]>[] = [];

/** Register what this page can do while it is shown, and handle its keys. */
export function usePageCommands(commands: readonly PageCommand[]) {
  const current = useRef(commands);
  current.current = commands;
  useShortcutKeys(Object.fromEntries(commands.flatMap(({ keys, run }) => (keys ? [[keys, run]] : []))));
  useEffect(() => {
    registered.push(current);
    return () => void registered.splice(registered.indexOf(current), 1);
  }, []);
}

function findLabel(element: HTMLElement): string {
  const named = element.getAttribute("aria-label");
  if (named) return named.trim();
  const copy = element.cloneNode(true) as HTMLElement;
  for (const extra of copy.querySelectorAll("kbd, .num")) extra.remove();
  return copy.textContent?.trim() ?? "";
}

/** The buttons and tabs that the marked parts of a page show; what is switched off is left out. */
export function readShownCommands(page: ParentNode): ReadCommand[] {
  const shown = [...page.querySelectorAll<HTMLElement>(":is([data-commands]) :is(button, a[href])")];
  return shown
    .filter((one) => !one.matches(":disabled, [data-disabled], [aria-current=page], [data-loading]"))
    .map((one) => ({
      label: findLabel(one),
      to: one.closest("nav") ? (one.getAttribute("href") ?? undefined) : undefined,
      run: () => void setTimeout(() => one.click(), AFTER_CLOSE_MS),
    }))
    .filter(({ label }) => label);
}

/** Registered commands know their keys, so they win over the buttons of the same name. */
export function mergeCommands(own: readonly PageCommand[], shown: readonly ReadCommand[]): ReadCommand[] {
  const found = new Map<string, ReadCommand>();
  for (const command of [...own, ...shown]) {
    const name = command.label.toLowerCase();
    if (!found.has(name)) found.set(name, command);
  }
  return [...found.values()];
}

/** What can be done on the page as it stands now, the innermost first. */
export const listPageCommands = (page: ParentNode = document): ReadCommand[] =>
  mergeCommands(
    registered.flatMap((one) => one.current),
    readShownCommands(page),
  );
