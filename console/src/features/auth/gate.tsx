import type { FormEvent, ReactNode } from "react";
import { useEffect } from "react";
import { basePath, serverVersion } from "../../api/base";
import { SchemeSwitch } from "../../shared/frame/scheme";
import { words } from "../../shared/i18n/words";
import { Mark } from "../../shared/parts";
import style from "./gate.module.css";
import en from "./words.en.json";

const say = words(en);

/** The page around every form before the sign-in. */
export function Gate({
  title,
  text,
  onSubmit,
  children,
}: {
  title: string;
  text: ReactNode;
  onSubmit: () => void;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Retinue`;
  }, [title]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <div className={style.gate}>
      <header className={style.top}>
        <span className="row g8">
          <Mark size={22} />
          <b className="t-600">Retinue</b>
        </span>
        <SchemeSwitch />
      </header>
      <main className={style.main} id="main">
        <form className={style.form} onSubmit={submit} noValidate>
          <div className="stack g6">
            <h1 className="t-display">{title}</h1>
            <p className="t-2">{text}</p>
          </div>
          {children}
        </form>
      </main>
      <footer className={`${style.foot} t-12 t-3`}>
        <span>{say("version", { version: serverVersion })}</span>
        <a href={`${basePath}/docs`}>{say("docs")}</a>
      </footer>
      <Trail />
    </div>
  );
}

const DOT_COUNT = 20;

/** One dot leads, smaller ones follow. Decoration only. */
function Trail() {
  const dots = Array.from({ length: DOT_COUNT }, (_, i) => {
    const t = i / (DOT_COUNT - 1);
    const along = t ** 0.82;
    return {
      x: 90 + along * 540 + Math.sin(along * 7) * 84,
      y: 860 - along * 740 + Math.cos(along * 5) * 64,
      r: 1.6 + 34 * t ** 2.6,
      t,
    };
  });
  return (
    <svg className={style.trail} viewBox="0 0 720 900" aria-hidden preserveAspectRatio="xMaxYMid slice">
      {dots.map((dot, i) => (
        <circle
          key={i}
          cx={dot.x}
          cy={dot.y}
          r={dot.r}
          fill={dot.t === 1 ? "var(--r-blue)" : "currentColor"}
          opacity={dot.t === 1 ? 1 : 0.12 + dot.t * 0.72}
        />
      ))}
    </svg>
  );
}
