import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ComponentType, ReactNode } from "react";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/states");

/** The common form of a page without content: a picture, a title, one sentence, actions. */
export function EmptyState({
  art,
  title,
  children,
  actions,
}: {
  art?: ReactNode;
  title: string;
  children: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="state">
      <div>
        {art}
        <h2>{title}</h2>
        <p>{children}</p>
        {actions && <div className="row g8 wrap">{actions}</div>}
      </div>
    </div>
  );
}

export const EmptyStateArt = ({
  icon: Icon,
  tone,
}: {
  icon: ComponentType<{ size?: number }>;
  tone: "turn" | "bad" | "wait";
}) => (
  <span className={`kind k-${tone}`} style={{ width: 40, height: 40, marginBottom: 8 }}>
    <Icon size={20} />
  </span>
);

/** The way back, for pages that lead nowhere. */
export const homeButton = (
  <Button variant="default" component={Link} to="/">
    {say("home")}
  </Button>
);
