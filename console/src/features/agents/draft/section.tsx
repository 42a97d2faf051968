import type { ReactNode } from "react";
import style from "./draft.module.css";

type Props = { title: string; note?: ReactNode; action?: ReactNode; children?: ReactNode };

/** A part of the draft: its name, one line about it, what can be added, and its content. */
export function DraftSection({ title, note, action, children }: Props) {
  return (
    <section className="stack g8" aria-label={title}>
      <div className={style.sectionHead}>
        <h2 className="t-sec fix">{title}</h2>
        {note && <span className="t-12 t-3 cut">{note}</span>}
        {action && <span className="push fix">{action}</span>}
      </div>
      {children}
    </section>
  );
}
