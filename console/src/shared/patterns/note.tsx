import CircleCheck from "icon:circle-check";
import Info from "icon:info";
import TriangleAlert from "icon:triangle-alert";
import type { ReactNode } from "react";

type NoteProps = { tone?: "warn" | "bad" | "ok" | "run"; icon?: ReactNode; action?: ReactNode; children: ReactNode };

/** A triangle warns: what went well, or only goes on, has another sign. */
const SIGNS = { ok: CircleCheck, run: Info, warn: TriangleAlert, bad: TriangleAlert } as const;

/** A sentence about what needs attention, at its place, with what to do next. */
export function Note({ tone, icon, action, children }: NoteProps) {
  const Sign = SIGNS[tone ?? "warn"];
  return (
    <div className={`note ${tone ?? ""}`} role={tone === "bad" ? "alert" : undefined}>
      {icon ?? <Sign size={15} />}
      <div className="grow">{children}</div>
      {action}
    </div>
  );
}
