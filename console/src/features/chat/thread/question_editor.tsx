import { Button, Textarea } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import { general } from "../../../shared/i18n/general";
import { createTranslator } from "../../../shared/i18n/words";
import style from "./message.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type EditorProps = {
  question: string;
  version: number;
  onCancel: () => void;
  onSend: (text: string) => void;
};

/** A question in other words. */
export function QuestionEditor({ question, version, onCancel, onSend }: EditorProps) {
  const [text, setText] = useState(question);
  const sendEdited = () => {
    if (text.trim()) onSend(text.trim());
  };
  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onCancel();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    sendEdited();
  };
  return (
    <div className={style.editing}>
      <Textarea
        classNames={{ input: style.editField }}
        autosize
        minRows={2}
        maxRows={12}
        maxLength={32_000}
        autoFocus
        aria-label={say("yourMessage")}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={handleKeyDown}
      />
      <div className="row g6 wrap">
        <span className="grow t-12 t-3">{say("oldStays", { version })}</span>
        <Button size="xs" variant="default" onClick={onCancel}>
          {general("cancel")}
        </Button>
        <Button size="xs" disabled={!text.trim()} onClick={sendEdited}>
          {say("send")}
        </Button>
      </div>
    </div>
  );
}
