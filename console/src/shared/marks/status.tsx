import type { ReactNode } from "react";

export type Tone = "ok" | "warn" | "bad" | "run" | "idle";

/** A state with a dot in its colour. */
export const StatusLabel = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="status">
    <i className={`dot ${tone}`} />
    {children}
  </span>
);

/** A word on a coloured ground. */
export const StatusPill = ({ tone, children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`pill ${tone ?? ""}`}>{children}</span>
);
