import { type RefObject, useEffect, useRef } from "react";

type Keys = Record<string, () => void>;

const PAIR_MS = 900;
/** Boxes and radio buttons take no letters: single keys work while one of them has the focus. */
const TEXT_FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select";
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(TEXT_FIELDS));
export const singleKeysOff = () => localStorage.getItem("retinue.single-keys") === "off";

/** All keys that are handled now; what came last wins. One listener sees them all, so "g a" is never also "a". */
const handled: RefObject<Keys>[] = [];
let first = "";
let until = 0;

const actionOf = (name: string) => handled.findLast((keys) => keys.current[name])?.current[name];

/** Escape leaves a field, so that single keys work again; in dialogs and open lists it closes those. */
function leaveField({ key, target }: KeyboardEvent) {
  if (key !== "Escape" || !isTyping(target) || document.querySelector('[role="dialog"]')) return;
  if (target instanceof HTMLElement && target.getAttribute("aria-expanded") !== "true") target.blur();
}

function listen(event: KeyboardEvent) {
  leaveField(event);
  const key = event.key.toLowerCase();
  const isMod = event.ctrlKey || event.metaKey;
  let action: (() => void) | undefined;
  if (isMod) action = actionOf(`mod+${key}`);
  else if (!event.altKey && !isTyping(event.target) && !singleKeysOff()) {
    if (document.querySelector('[role="dialog"]')) return;
    const pair = event.timeStamp < until ? actionOf(`${first} ${key}`) : undefined;
    action = pair ?? actionOf(key);
    first = pair ? "" : key;
    until = event.timeStamp + PAIR_MS;
  }
  if (!action) return;
  event.preventDefault();
  action();
}

/** Handle keys: "mod+k", single ones such as "c", and "g a" for one after the other. */
export function useKeys(keys: Keys) {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    if (handled.push(current) === 1) window.addEventListener("keydown", listen);
    return () => {
      handled.splice(handled.indexOf(current), 1);
      if (!handled.length) window.removeEventListener("keydown", listen);
    };
  }, []);
}

/** `J` and `K` move the focus through the elements with `data-row`; a link among them opens with Enter. */
export function useRowKeys(list: RefObject<HTMLElement | null>) {
  const move = (step: number) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const now = rows.indexOf(document.activeElement as HTMLElement);
    const next = rows[now < 0 ? (step > 0 ? 0 : rows.length - 1) : now + step];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
}
