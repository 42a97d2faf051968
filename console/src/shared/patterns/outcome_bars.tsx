import type { CSSProperties } from "react";
import style from "./outcome_bars.module.css";

export type Outcome = { total: number; failed: number };
const LOWEST_PX = 3;
const LEAST_FAILED_PERCENT = 18;

type OutcomeBarsProps = { outcomes: Outcome[]; label: string; height?: number; width?: number };

/** One column for each hour or day: its height says how many, its red part how many of them failed. */
export function OutcomeBars({ outcomes, label, height = 22, width = 5 }: OutcomeBarsProps) {
  const largest = Math.max(...outcomes.map(({ total }) => total)) || 1;
  const barHeight = (total: number) => (total ? Math.max(LOWEST_PX, (total / largest) * height) : 2);
  return (
    <div
      className={style.bars}
      role="img"
      aria-label={label}
      style={{ "--h": `${height}px`, "--w": `${width}px` } as CSSProperties}
    >
      {outcomes.map(({ total, failed }, place) => (
        <i key={place} data-none={total ? undefined : true} style={{ height: barHeight(total) }}>
          {failed > 0 && <b style={{ height: `${Math.max(LEAST_FAILED_PERCENT, (failed / total) * 100)}%` }} />}
        </i>
      ))}
    </div>
  );
}
