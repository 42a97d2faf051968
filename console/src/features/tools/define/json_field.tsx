import { Textarea, type TextareaProps } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";

const say = createTranslator(en, "features/tools");
type Props = Omit<TextareaProps, "value" | "onChange"> & {
  value: unknown;
  /** `undefined` for an empty field. */
  onChange: (value: unknown) => void;
  onValidity: (isValid: boolean) => void;
};

function parseJson(text: string): { value?: unknown; isValid: boolean } {
  if (!text.trim()) return { isValid: true };
  try {
    return { value: JSON.parse(text), isValid: true };
  } catch {
    return { isValid: false };
  }
}

/** Any JSON value as text. What is half typed stays in the field and is told apart from what is valid. */
export function JsonField({ value, error, onChange, onValidity, ...rest }: Props) {
  const [text, setText] = useState(() => (value === undefined || value === null ? "" : JSON.stringify(value, null, 2)));
  const isValid = parseJson(text).isValid;
  return (
    <Textarea
      {...rest}
      autosize
      minRows={3}
      maxRows={18}
      spellCheck={false}
      classNames={{ input: "mono t-12" }}
      error={isValid ? error : say("noJson")}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        const parsed = parseJson(event.currentTarget.value);
        onValidity(parsed.isValid);
        if (parsed.isValid) onChange(parsed.value);
      }}
    />
  );
}
