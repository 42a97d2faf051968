import BookOpen from "icon:book-open";
import Bot from "icon:bot";
import Check from "icon:check";
import Copy from "icon:copy";
import Hourglass from "icon:hourglass";
import ListChecks from "icon:list-checks";
import Sparkles from "icon:sparkles";
import TriangleAlert from "icon:triangle-alert";
import UserRound from "icon:users-round";
import Webhook from "icon:webhook";
import Workflow from "icon:workflow";
import Wrench from "icon:wrench";
import { ActionIcon, Tooltip } from "@mantine/core";
import { type ComponentType, type ReactNode, useState } from "react";
import { general } from "./i18n/general";

export type Tone = "ok" | "warn" | "bad" | "run" | "idle";
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

export function Kind({ of, small }: { of: KindName; small?: boolean }) {
  const Icon = KINDS[of];
  return (
    <span className={`kind k-${of === "hook" ? "turn" : of} ${small ? "s" : ""}`}>
      <Icon size={small ? 13 : 16} />
    </span>
  );
}

/** Every agent has a constellation of its own: one that leads and three that follow, placed and coloured by its id. */
export function AgentMark({ id, size = 30 }: { id: string; size?: number }) {
  let seed = 11;
  for (const letter of id) seed = Math.imul(seed ^ letter.charCodeAt(0), 16777619) >>> 0;
  const hues = ["model", "know", "tool", "sub", "flow", "form", "wait"];
  const turn = (seed % 8) * 45 + 20;
  const dots: [number, number, number, number][] = [
    [5.4, 3.9, 0, 1],
    [6.2, 2.7, 125 + (seed % 30), 0.72],
    [6.4, 2, 205 + (seed % 40), 0.5],
    [7, 1.4, 280, 0.4],
  ];
  return (
    <span className={`agent-mark k-${hues[(seed >>> 7) % hues.length]}`} style={{ width: size, height: size }}>
      <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden>
        {dots.map(([away, r, at, opacity], i) => {
          const rad = ((turn + at) * Math.PI) / 180;
          return (
            <circle
              key={i}
              cx={12 + Math.cos(rad) * away * 0.82}
              cy={12 + Math.sin(rad) * away * 0.82}
              r={r}
              fill="currentColor"
              opacity={opacity}
            />
          );
        })}
      </svg>
    </span>
  );
}

export const Status = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="status">
    <i className={`dot ${tone}`} />
    {children}
  </span>
);
export const Pill = ({ tone, children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`pill ${tone ?? ""}`}>{children}</span>
);

export function Person({ name, size }: { name: string; size?: "l" }) {
  const hues = ["k-model", "k-know", "k-tool", "k-sub", "k-flow", "k-form"];
  const letters = name
    .split(" ")
    .map((part) => part[0])
    .slice(0, 2)
    .join("");
  return (
    <span aria-hidden className={`avatar ${size ?? ""} ${hues[(name.charCodeAt(0) + name.length) % hues.length]}`}>
      {letters}
    </span>
  );
}

export function Id({ children }: { children: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <span className="row g4 t-3">
      <span className="mono t-12">{children}</span>
      <Tooltip label={general(copied ? "copied" : "copyId")}>
        <ActionIcon
          size={24}
          aria-label={general("copy", { text: children })}
          onClick={() => {
            void navigator.clipboard?.writeText(children);
            setCopied(true);
            setTimeout(() => setCopied(false), 1200);
          }}
        >
          {copied ? <Check size={13} /> : <Copy size={13} />}
        </ActionIcon>
      </Tooltip>
    </span>
  );
}

export function Spark({
  of,
  tone,
  width = 72,
  height = 20,
  label,
}: {
  of: number[];
  tone?: "bad" | "blue";
  width?: number;
  height?: number;
  label: string;
}) {
  // Costs are often far below 1: only a row of zeros has no greatest value.
  const max = Math.max(...of) || 1;
  const x = (i: number) => (i / Math.max(of.length - 1, 1)) * (width - 2) + 1;
  const y = (value: number) => height - 2 - (value / max) * (height - 4);
  const line = of.map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const colour = tone === "bad" ? "var(--r-bad-dot)" : tone === "blue" ? "var(--r-blue)" : "var(--r-ink-3)";
  return (
    <svg role="img" aria-label={label} width={width} height={height} style={{ display: "block", overflow: "visible" }}>
      <path d={`${line}L${x(of.length - 1)} ${height}L1 ${height}Z`} fill={colour} opacity=".1" />
      <path d={line} fill="none" stroke={colour} strokeWidth="1.5" strokeLinejoin="round" strokeLinecap="round" />
      <circle cx={x(of.length - 1)} cy={y(of.at(-1) ?? 0)} r="2" fill={colour} />
    </svg>
  );
}

/** JSON in our colours, without any HTML string. */
export function Json({ of, max }: { of: unknown; max?: number }) {
  const text = JSON.stringify(of, null, 2);
  const parts = text.split(/("(?:[^"\\]|\\.)*"(?:\s*:)?|\b-?\d+(?:\.\d+)?\b|\btrue\b|\bfalse\b|\bnull\b)/);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <pre className="code" tabIndex={0} role="group" aria-label="JSON" style={{ maxHeight: max }}>
      {parts.map((part, i) => {
        if (i % 2 === 0) return part;
        const kind = part.endsWith(":") ? "k" : part.startsWith('"') ? "s" : /^[tfn]/.test(part) ? "l" : "n";
        return (
          <span key={i} className={kind}>
            {part}
          </span>
        );
      })}
    </pre>
  );
}

export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden style={{ flex: "none" }}>
      <circle cx="15.2" cy="8" r="5" fill="currentColor" />
      <circle cx="6.6" cy="12.6" r="3" fill="currentColor" opacity=".72" />
      <circle cx="13" cy="17.6" r="2.2" fill="currentColor" opacity=".5" />
      <circle cx="6.4" cy="19.6" r="1.5" fill="currentColor" opacity=".34" />
    </svg>
  );
}

type TickProps = { label: string; isOn: boolean; isPartly?: boolean; onChange: (isOn: boolean) => void };

/** The box of a row. A page has fifty of them, and a plain one is drawn in a third of the time. */
export function Tick({ label, isOn, isPartly = false, onChange }: TickProps) {
  return (
    <input
      type="checkbox"
      className="tick"
      aria-label={label}
      checked={isOn}
      ref={(box) => {
        if (box) box.indeterminate = isPartly;
      }}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
