import type { ReactNode } from "react";
import { usePageTitle } from "../../shared/frame/page_title";
import style from "./welcome.module.css";

/** The title of a step, and what it is about. */
export function WelcomeCard({ title, text, children }: { title: string; text: ReactNode; children: ReactNode }) {
  usePageTitle(title);
  return (
    <section className={style.card} aria-labelledby="step-title">
      <div className="stack g6">
        <h1 id="step-title" className="t-display">
          {title}
        </h1>
        <p className="t-2">{text}</p>
      </div>
      {children}
    </section>
  );
}
