import Search from "icon:search";
import { Kbd, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useRef, useState } from "react";
import { usePageCommands } from "../frame/commands";
import style from "./list.module.css";

const WAIT_MS = 250;

type Props = { label: string; value: string | undefined; onChange: (text: string | undefined) => void };

/** The field that searches a list once the typing pauses; the key / leads to it. */
export function SearchField({ label, value = "", onChange }: Props) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  usePageCommands([{ label, keys: "/", run: () => setTimeout(() => field.current?.focus()) }]);
  // A value that this field did not ask for was set elsewhere, for example by "Clear filters" or by going back.
  const [seen, setSeen] = useState(value);
  const asked = useRef(value);
  if (value !== seen) {
    setSeen(value);
    if (value !== asked.current) setText(value);
    asked.current = value;
  }
  const search = useDebouncedCallback(() => {
    if (text === asked.current) return;
    asked.current = text;
    onChange(text || undefined);
  }, WAIT_MS);
  return (
    <TextInput
      ref={field}
      size="xs"
      className={style.find}
      leftSection={<Search size={14} />}
      rightSection={<Kbd>/</Kbd>}
      placeholder={label}
      aria-label={label}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        search();
      }}
    />
  );
}
