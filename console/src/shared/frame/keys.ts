import { type RefObject, useEffect, useRef } from "react";

type Keys = Record<string, () => void>;

const PAIR_MS = 900;
/** Boxes and radio buttons take no letters: single keys work while one of them has the focus. */
const TEXT_FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select";
const isTypingTarget = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(TEXT_FIELDS));
/** What Space presses by itself keeps it; elsewhere it is a key like any other. */
const isPressedBySpace = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.matches("button, summary, input, [role=switch], [role=option], [role=menuitem]");
export const areSingleKeysOff = () => localStorage.getItem("retinue.single-keys") === "off";

/** All keys that are handled now; what came last wins. One listener sees them all, so "g a" is never also "a". */
const handled: RefObject<Keys>[] = [];
let first = "";
let until = 0;

const findPageAction = (name: string) => handled.findLast((keys) => keys.current[name])?.current[name];

/** Escape leaves a field, so that single keys work again; in dialogs and open lists it closes those. */
function leaveField({ key, target }: KeyboardEvent) {
  if (key !== "Escape" || !isTypingTarget(target) || document.querySelector('[role="dialog"]')) return;
  if (target instanceof HTMLElement && target.getAttribute("aria-expanded") !== "true") target.blur();
}

function handleKeyDown(event: KeyboardEvent) {
  leaveField(event);
  const key = event.key.toLowerCase();
  const isMod = event.ctrlKey || event.metaKey;
  let action: (() => void) | undefined;
  if (isMod) action = findPageAction(`mod+${key}`);
  else if (!event.altKey && !isTypingTarget(event.target) && !areSingleKeysOff()) {
    if (document.querySelector('[role="dialog"]') || (key === " " && isPressedBySpace(event.target))) return;
    const pair = event.timeStamp < until ? findPageAction(`${first} ${key}`) : undefined;
    const shifted = event.shiftKey ? findPageAction(`shift+${key}`) : undefined;
    action = pair ?? shifted ?? findPageAction(key);
    first = pair ? "" : key;
    until = event.timeStamp + PAIR_MS;
  }
  if (!action) return;
  event.preventDefault();
  action();
}

/**
 * Handle keys: "mod+k", single ones such as "c" or "shift+r", and "g a" for one after the other. A fallback acts only where no page
 * handles the key.
 */
export function useShortcutKeys(keys: Keys, { isFallback = false } = {}) {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const count = isFallback ? handled.unshift(current) : handled.push(current);
    if (count === 1) window.addEventListener("keydown", handleKeyDown);
    return () => {
      handled.splice(handled.indexOf(current), 1);
      if (!handled.length) window.removeEventListener("keydown", handleKeyDown);
    };
  }, [isFallback]);
}

/** `J` and `K` move the focus through the elements with `data-row`; a link among them opens with Enter. */
export function useRowKeys(list: RefObject<HTMLElement | null>) {
  const moveFocus = (step: number) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const now = rows.indexOf(document.activeElement as HTMLElement);
    const next = rows[now < 0 ? (step > 0 ? 0 : rows.length - 1) : now + step];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcutKeys({ j: () => moveFocus(1), k: () => moveFocus(-1) });
}
