import X from "icon:x";
import { ActionIcon } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { general } from "../i18n/general";
import style from "./toast.module.css";
import { dismissLater, dismissToast, holdToast, shownToasts, subscribeToToasts, type Toast } from "./toasts";

function Item({ of: one }: { of: Toast }) {
  const hold = () => holdToast(one);
  const release = () => dismissLater(one);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only holds it; focus does the same by keyboard
    <div className={style.toast} onMouseEnter={hold} onMouseLeave={release} onFocus={hold} onBlur={release}>
      <span className="grow">{one.text}</span>
      {one.action}
      <ActionIcon size={24} className={style.close} aria-label={general("close")} onClick={() => dismissToast(one)}>
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
