import type { CSSProperties, ReactNode } from "react";
import style from "./sheet.module.css";

/** A page of sections in one column, which scrolls below the bar and the tabs. */
export const Sheet = ({ width, children }: { width?: number; children: ReactNode }) => (
  <div className={style.scroll}>
    <div className={style.page} style={width ? ({ "--page": `${width}px` } as CSSProperties) : undefined}>
      {children}
    </div>
  </div>
);

type SheetSectionProps = { title: ReactNode; note?: ReactNode; actions?: ReactNode; id?: string; children: ReactNode };

export const SheetSection = ({ title, note, actions, id, children }: SheetSectionProps) => (
  <section className={style.section} id={id}>
    <div className={style.head}>
      <h2 className="t-sec">{title}</h2>
      {note && <span className="t-12 t-3">{note}</span>}
      {actions && <span className="push row g6">{actions}</span>}
    </div>
    {children}
  </section>
);

export type Figure = { name: string; value: ReactNode; note?: ReactNode };

/** Numbers side by side, each with its name above and what it means below. */
export const FigureStrip = ({ figures }: { figures: Figure[] }) => (
  <dl className={`card ${style.figures}`} style={{ "--n": figures.length } as CSSProperties}>
    {figures.map(({ name, value, note }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <span className={`${style.number} num`}>{value}</span>
          {note && <span className="t-12 t-3">{note}</span>}
        </dd>
      </div>
    ))}
  </dl>
);

/** Facts in a row that wraps: the name above, the value below. */
export const FactRow = ({ facts }: { facts: [name: string, value: ReactNode][] }) => (
  <dl className={style.facts}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** Facts one below the other: the name at the start, the value beside it. */
export const FactList = ({ facts }: { facts: [name: string, value: ReactNode][] }) => (
  <dl className="kv">
    {facts.map(([name, value]) => (
      <div key={name} style={{ display: "contents" }}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
