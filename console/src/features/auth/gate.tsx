import type { FormEvent, ReactNode } from "react";
import { basePath, serverVersion } from "../../api/base";
import { usePageTitle } from "../../shared/frame/page_title";
import { SchemeSwitch } from "../../shared/frame/scheme";
import { createTranslator } from "../../shared/i18n/words";
import { Logo } from "../../shared/marks/logo";
import style from "./gate.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/auth");

/** The page around every form before the sign-in. */
export function GatePage({
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
  usePageTitle(title);
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <div className={style.gate}>
      <header className={style.top}>
        <span className="row g8">
          <Logo size={22} />
          <b className="t-600">Retinue</b>
        </span>
        <SchemeSwitch />
      </header>
      <main className={style.main} id="main">
        <form className={style.form} onSubmit={handleSubmit} noValidate>
          <div className="stack g6">
            <h1 className="t-display">{title}</h1>
            {text && <p className="t-2">{text}</p>}
          </div>
          {children}
        </form>
      </main>
      <footer className={`${style.foot} t-12 t-3`}>
        <span>{say("version", { version: serverVersion })}</span>
        <a href={`${basePath}/docs`}>{say("docs")}</a>
      </footer>
      <DotTrail />
    </div>
  );
}

/** One dot leads, smaller ones follow at a growing distance. Decoration only. */
function DotTrail() {
  const dots: { x: number; y: number; r: number; t: number }[] = [];
  for (let t = 0; t <= 1; ) {
    const r = 1.6 + 33 * t ** 2.2;
    dots.push({ x: 60 + t * 550 + Math.sin(t * 7) * 88, y: 820 - t * 690 + Math.cos(t * 5) * 70, r, t });
    t += (r * 2 + 36 - 20 * t) / 1010;
  }
  const last = dots.length - 1;
  return (
    <svg className={style.trail} viewBox="0 0 720 900" aria-hidden preserveAspectRatio="xMaxYMid slice">
      {dots.map((dot, i) => (
        <circle
          key={i}
          cx={dot.x}
          cy={dot.y}
          r={dot.r}
          fill={i === last ? "var(--r-blue)" : "currentColor"}
          opacity={i === last ? 1 : 0.12 + dot.t * 0.76}
        />
      ))}
    </svg>
  );
}
