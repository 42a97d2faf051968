import Check from "icon:check";
import Copy from "icon:copy";
import { ActionIcon, Tooltip } from "@mantine/core";
import { useState } from "react";
import { general } from "../i18n/general";

/** An id with a button that copies it. */
export function CopyableId({ children }: { children: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <span className="row g4 t-3">
      <span className="mono t-12">{children}</span>
      <Tooltip label={general(copied ? "copied" : "copyId")}>
        <ActionIcon
          size={24}
          aria-label={general("copy", { text: children })}
          onClick={() => {
            void navigator.clipboard?.writeText(children);
            setCopied(true);
            setTimeout(() => setCopied(false), 1200);
          }}
        >
          {copied ? <Check size={13} /> : <Copy size={13} />}
        </ActionIcon>
      </Tooltip>
    </span>
  );
}
