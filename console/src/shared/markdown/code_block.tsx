import { lazy, Suspense, useState } from "react";
import { general } from "../i18n/general";
import style from "./markdown.module.css";

const COPIED_MS = 2000;
const PlainCode = ({ text }: { text: string; language: string }) => text;
/** A colour is not worth an error: without its chunk the code stays as it is. */
const HighlightedCode = lazy(() => import("./highlighted_code").catch(() => ({ default: PlainCode })));

/** Code that keeps its indentation, in the colours of its language, with a button that copies it. */
export function CodeBlock({ text, language }: { text: string; language?: string }) {
  return (
    <div className={style.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className={`code ${style.code}`} tabIndex={0} aria-label={general("code")}>
        {language ? (
          <Suspense fallback={text}>
            <HighlightedCode text={text} language={language} />
          </Suspense>
        ) : (
          text
        )}
      </section>
      {navigator.clipboard && <CopyButton text={text} />}
    </div>
  );
}

/** Browsers let only pages of a secure address write to the clipboard. */
function CopyButton({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copyCode = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <>
      {/* The status says it once; the log around it would say it again. */}
      <button
        type="button"
        className={style.copy}
        aria-live="off"
        onClick={() => void copyCode().catch(() => undefined)}
      >
        {general(isCopied ? "copied" : "copyCode")}
      </button>
      <span className={style.said} role="status">
        {isCopied && general("copied")}
      </span>
    </>
  );
}
