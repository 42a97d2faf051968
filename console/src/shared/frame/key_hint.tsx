import { Kbd } from "@mantine/core";
import { general } from "../i18n/general";

const SIGNS: Record<string, string> = { enter: "↵", escape: "Esc", backspace: "⌫", shift: "⇧", " ": "␣" };
const signOf = (key: string) => (key === "mod" ? general("ctrl") : (SIGNS[key] ?? key.toUpperCase()));

/** "mod+s" and "g a" as the keys that somebody presses, one after the other. */
export const ShortcutKeyHint = ({ keys }: { keys: string }) => (
  <span className="row g2">
    {keys.split(/[ +]/).map((key) => (
      <Kbd key={key}>{signOf(key)}</Kbd>
    ))}
  </span>
);
