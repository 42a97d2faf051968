import type { ReactNode } from "react";
import type { Tone } from "../marks/status";

export type Knot = { key: string; tone: Tone | "next"; title: ReactNode; note?: ReactNode; end?: ReactNode };

/** Things that followed one another, on one line: solid is past, dashed is to come. */
export const HistoryThread = ({ knots, label }: { knots: Knot[]; label?: string }) => (
  <ol className="thread" aria-label={label}>
    {knots.map(({ key, tone, title, note, end }, place) => (
      <li key={key} className={knots[place + 1]?.tone === "next" ? "next" : ""}>
        <i className={`knot ${tone === "idle" ? "" : tone}`} />
        <div className="row g8 top">
          <div className="stack grow">
            <span className="t-13 t-500">{title}</span>
            {note && <span className="t-12 t-3">{note}</span>}
          </div>
          {end}
        </div>
      </li>
    ))}
  </ol>
);
