import { useEffect, useRef } from "react";

type Keys = Record<string, () => void>;

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
export const singleKeysOff = () => localStorage.getItem("retinue.single-keys") === "off";

/** Handle keys: "mod+k", single ones such as "c", and "g a" for one after the other. */
export function useKeys(keys: Keys) {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let first = "";
    let until = 0;
    const listen = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      const isMod = event.ctrlKey || event.metaKey;
      if (isMod || event.altKey) return run(isMod ? `mod+${key}` : "", event);
      if (isTyping(event.target) || singleKeysOff() || document.querySelector('[role="dialog"]')) return;
      const pair = Date.now() < until ? `${first} ${key}` : "";
      first = key;
      until = Date.now() + 900;
      if (!(pair && run(pair, event))) run(key, event);
    };
    const run = (name: string, event: KeyboardEvent): boolean => {
      const action = current.current[name];
      if (!action) return false;
      event.preventDefault();
      action();
      return true;
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
