import ChevronLeft from "icon:chevron-left";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { meQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import style from "./bar.module.css";
import { COMMANDS_MARK } from "./commands";
import { usePageTitle } from "./page_title";
import { keepRecentPlace } from "./recent";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

type Step = { label: string; to: string };

/** The bar of a screen: where you are, what it is, what you can do with it. */
export function PageBar({
  trail = [],
  title,
  tab,
  isThere = true,
  after,
  children,
}: {
  trail?: Step[];
  title: string;
  /** Which part of the object this is, if it has several. */
  tab?: string;
  /** False while it loads or if it did not: nothing to come back to. */
  isThere?: boolean;
  after?: ReactNode;
  children?: ReactNode;
}) {
  usePageTitle(title);
  const { data: me } = useQuery(meQuery);
  const address = useLocation({ select: (now) => now.pathname });
  useEffect(() => {
    if (me && isThere) keepRecentPlace(me.id, address, tab ? `${title} · ${tab}` : title);
  }, [me, address, title, tab, isThere]);
  const parent = trail.at(-1);
  return (
    <header className={style.bar}>
      <div className={`row g8 grow ${style.lead}`}>
        {parent && (
          <Link className={style.back} to={parent.to} aria-label={say("backTo", { name: parent.label })}>
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
      {children && (
        <div className={`row g6 fix ${style.actions}`} {...COMMANDS_MARK}>
          {children}
        </div>
      )}
    </header>
  );
}
