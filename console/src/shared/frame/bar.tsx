import ChevronLeft from "icon:chevron-left";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import style from "./bar.module.css";

type Step = { label: string; to: string };

/** The bar of a screen: where you are, what it is, what you can do with it. */
export function Bar({
  trail = [],
  title,
  after,
  children,
}: {
  trail?: Step[];
  title: string;
  after?: ReactNode;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Retinue`;
  }, [title]);
  const parent = trail.at(-1);
  return (
    <header className={style.bar}>
      <div className="row g8 grow">
        {parent && (
          <Link className={style.back} to={parent.to} aria-label={`Back to ${parent.label}`}>
            <ChevronLeft size={20} />
          </Link>
        )}
        {trail.map((step) => (
          <span key={step.to} className={`row g8 fix ${style.trail}`}>
            <Link to={step.to}>{step.label}</Link>
            <span className="t-3" aria-hidden>
              /
            </span>
          </span>
        ))}
        <h1 className={`${style.title} cut`}>{title}</h1>
        {after}
      </div>
      <div className="row g6 fix">{children}</div>
    </header>
  );
}
