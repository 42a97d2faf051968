import BookOpen from "icon:book-open";
import Bot from "icon:bot";
import Hourglass from "icon:hourglass";
import ListChecks from "icon:list-checks";
import Sparkles from "icon:sparkles";
import TriangleAlert from "icon:triangle-alert";
import UserRound from "icon:users-round";
import Webhook from "icon:webhook";
import Workflow from "icon:workflow";
import Wrench from "icon:wrench";
import type { ComponentType } from "react";

export type KindName = "turn" | "model" | "know" | "tool" | "sub" | "wait" | "flow" | "form" | "bad" | "hook";

const KINDS: Record<KindName, ComponentType<{ size?: number }>> = {
  turn: Bot,
  model: Sparkles,
  know: BookOpen,
  tool: Wrench,
  sub: UserRound,
  wait: Hourglass,
  flow: Workflow,
  form: ListChecks,
  bad: TriangleAlert,
  hook: Webhook,
};

export function KindIcon({ kind, small }: { kind: KindName; small?: boolean }) {
  const Icon = KINDS[kind];
  return (
    <span className={`kind k-${kind === "hook" ? "turn" : kind} ${small ? "s" : ""}`}>
      <Icon size={small ? 13 : 16} />
    </span>
  );
}
