import X from "icon:x";
import { ActionIcon } from "@mantine/core";
import type { CSSProperties, ReactNode } from "react";
import { useShortcutKeys } from "../frame/keys";
import { general } from "../i18n/general";
import style from "./side_panel.module.css";

/** A list with the panel of the chosen row beside it; without a panel the list has the whole width. */
export function ListWithPanel({ panel, width, children }: { panel?: ReactNode; width?: number; children: ReactNode }) {
  return (
    <div
      className={style.split}
      data-open={panel ? true : undefined}
      style={width ? ({ "--panel": `${width}px` } as CSSProperties) : undefined}
    >
      <div className={style.list}>{children}</div>
      {panel}
    </div>
  );
}

type SidePanelProps = {
  /** What the panel is called by assistive technology. */
  label: string;
  icon?: ReactNode;
  title: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** At most two buttons. */
  foot?: ReactNode;
  onClose: () => void;
  children: ReactNode;
};

/** The details of one row beside its list. It is no dialog: the list stays usable, and Esc closes it. */
export function SidePanel({ label, icon, title, subtitle, actions, foot, onClose, children }: SidePanelProps) {
  useShortcutKeys({ escape: onClose });
  return (
    <aside className={style.panel} aria-label={label}>
      <div className={style.head}>
        {icon}
        <div className="stack grow">
          <h2 className="t-sec cut">{title}</h2>
          {subtitle && <span className="t-12 t-3 cut">{subtitle}</span>}
        </div>
        {actions}
        <ActionIcon aria-label={general("close")} onClick={onClose}>
          <X size={15} />
        </ActionIcon>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div className={style.body} tabIndex={0}>
        {children}
      </div>
      {foot && <div className={style.foot}>{foot}</div>}
    </aside>
  );
}
