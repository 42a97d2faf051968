import X from "icon:x";
import { ActionIcon } from "@mantine/core";
import { useEffect, useState, useSyncExternalStore } from "react";
import { general } from "../i18n/general";
import style from "./toast.module.css";
import { dismiss, shownToasts, subscribeToToasts, type Toast } from "./toasts";

const SHOWN_MS = 6_000;
/** What can be clicked stays longer: it has to be read and reached. */
const SHOWN_WITH_ACTION_MS = 12_000;

function Item({ of: { id, text, action } }: { of: Toast }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, action, isHeld]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only holds it; focus does the same by keyboard
    <div
      className={style.toast}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className="grow">{text}</span>
      {action}
      <ActionIcon size={24} className={style.close} aria-label={general("close")} onClick={() => dismiss(id)}>
        <X size={14} />
      </ActionIcon>
    </div>
  );
}

/** Where it is said that something was done. It is there from the start, so that screen readers follow it. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribeToToasts, shownToasts);
  return (
    <div className={style.region} role="status" aria-live="polite">
      {toasts.map((one) => (
        <Item key={one.id} of={one} />
      ))}
    </div>
  );
}
