import type { ReactNode } from "react";
import style from "./change_bar.module.css";

/** Floats over the foot of a page while there are changes that nobody has saved, and says what they are. */
export const ChangeBar = ({ label, actions, children }: { label: string; actions: ReactNode; children: ReactNode }) => (
  <section className={style.bar} aria-label={label}>
    <div className="grow">{children}</div>
    <span className="row g6">{actions}</span>
  </section>
);
