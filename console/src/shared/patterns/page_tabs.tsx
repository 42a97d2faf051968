import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { COMMANDS_MARK } from "../frame/commands";
import style from "./page_tabs.module.css";

export type PageTab = {
  label: string;
  to: NonNullable<LinkProps["to"]>;
  params?: LinkProps["params"];
  count?: ReactNode;
};

/** The parts of one object or one area, below the bar; the address says which one is open. */
export const PageTabs = ({ tabs, label }: { tabs: PageTab[]; label: string }) => (
  <nav className={style.tabs} aria-label={label} {...COMMANDS_MARK}>
    {tabs.map((tab) => (
      <Link
        key={tab.to}
        to={tab.to}
        params={tab.params}
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ "aria-current": "page" }}
      >
        {tab.label}
        {tab.count !== undefined && <span className={`t-3 num ${style.count}`}>{tab.count}</span>}
      </Link>
    ))}
  </nav>
);
