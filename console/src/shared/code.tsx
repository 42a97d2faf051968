import Check from "icon:check";
import Copy from "icon:copy";
import { ActionIcon } from "@mantine/core";
import { useState } from "react";
import { general } from "./i18n/general";

const SHOWN_MS = 1200;

/** A text to take along. */
export function CopyableCode({ label, text }: { label: string; text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copyText = () => {
    void navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <div className="stack g4">
      <div className="row g8">
        <span className="t-12 t-3 grow">{label}</span>
        <ActionIcon
          size={24}
          aria-label={isCopied ? general("copied") : general("copy", { text: label })}
          onClick={copyText}
        >
          {isCopied ? <Check size={14} /> : <Copy size={14} />}
        </ActionIcon>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <pre className="code" style={{ maxHeight: 260 }} tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
    </div>
  );
}
