import Check from "icon:check";
import Copy from "icon:copy";
import { ActionIcon, Tooltip } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ShortcutKeyHint } from "../../../shared/frame/key_hint";
import { general } from "../../../shared/i18n/general";

const COPIED_MS = 1500;

type Props = {
  label: string;
  keys?: string;
  isOn?: boolean;
  isBusy?: boolean;
  onClick: () => void;
  children: ReactNode;
};

/** A small button below a message, with its key. */
export function MessageAction({ label, keys, isOn, isBusy, onClick, children }: Props) {
  const tip = (
    <span className="row g6">
      {label}
      {keys && <ShortcutKeyHint keys={keys} />}
    </span>
  );
  return (
    <Tooltip label={tip}>
      <ActionIcon size={28} aria-label={label} aria-pressed={isOn} loading={isBusy} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** Copies a text; browsers let only pages of a secure address do so. */
export function CopyAction({ label, text }: { label: string; text: string }) {
  const [isCopied, setCopied] = useState(false);
  if (!navigator.clipboard) return null;
  const copyText = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <MessageAction label={isCopied ? general("copied") : label} onClick={() => void copyText().catch(() => undefined)}>
      {isCopied ? <Check size={15} /> : <Copy size={15} />}
    </MessageAction>
  );
}
