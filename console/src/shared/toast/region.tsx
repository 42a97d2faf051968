import X from "icon:x";
import { ActionIcon } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { general } from "../i18n/general";
import style from "./toast.module.css";
import { dismissLater, dismissToast, holdToast, readShownToasts, subscribeToToasts, type Toast } from "./toasts";

function ToastItem({ of: one }: { of: Toast }) {
  const holdOpen = () => holdToast(one);
  const releaseToast = () => dismissLater(one);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only holds it; focus does the same by keyboard
    <div
      className={style.toast}
      onMouseEnter={holdOpen}
      onMouseLeave={releaseToast}
      onFocus={holdOpen}
      onBlur={releaseToast}
    >
      <span className="grow">{one.text}</span>
      {one.action}
      <ActionIcon size={24} className={style.close} aria-label={general("close")} onClick={() => dismissToast(one)}>
        <X size={14} />
      </ActionIcon>
    </div>
  );
}

/** Where it is said that something was done. It is there from the start, so that screen readers follow it. */
export function ToastRegion() {
  const toasts = useSyncExternalStore(subscribeToToasts, readShownToasts);
  return (
    <div className={style.region} role="status" aria-live="polite">
      {toasts.map((one) => (
        <ToastItem key={one.id} of={one} />
      ))}
    </div>
  );
}
