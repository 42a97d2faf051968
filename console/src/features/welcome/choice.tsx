import type { ComponentType, ReactNode } from "react";
import style from "./welcome.module.css";

export type Source = "embedded" | "provider" | "server";

/** One of the sources of models; the chosen one shows what it needs. */
export function ChoiceCard({
  source,
  chosen,
  onChoose,
  icon: Icon,
  kind,
  title,
  pill,
  text,
  disabled,
  children,
}: {
  source: Source;
  chosen: Source;
  onChoose: (source: Source) => void;
  icon: ComponentType<{ size?: number }>;
  kind: string;
  title: string;
  pill?: ReactNode;
  text: string;
  disabled?: boolean;
  children?: ReactNode;
}) {
  return (
    <div className={style.choice} data-on={chosen === source || undefined}>
      <label>
        <input
          type="radio"
          name="model"
          checked={chosen === source}
          disabled={disabled}
          onChange={() => onChoose(source)}
          aria-describedby={`about-${source}`}
          aria-label={title}
        />
        <span className={`kind ${kind}`}>
          <Icon size={16} />
        </span>
        <span className="stack grow">
          <span className="row g8 wrap">
            <b className="t-500">{title}</b>
            {pill}
          </span>
          <span className="t-13 t-2" id={`about-${source}`}>
            {text}
          </span>
        </span>
      </label>
      {chosen === source && children && <div className={style.more}>{children}</div>}
    </div>
  );
}
