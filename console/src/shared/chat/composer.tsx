import ArrowUp from "icon:arrow-up";
import Paperclip from "icon:paperclip";
import Square from "icon:square";
import { ActionIcon, Textarea } from "@mantine/core";
import { ATTACHMENT_ENDINGS, MAX_ATTACHMENTS } from "@retinue/attachments";
import {
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
  useRef,
  useState,
} from "react";
import { createTranslator } from "../i18n/words";
import { AttachedUploads } from "./attached_files";
import style from "./composer.module.css";
import type { ComposerState } from "./use_composer";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
const MAX_LENGTH = 32_000;

type Props = {
  state: ComposerState;
  field: RefObject<HTMLTextAreaElement | null>;
  isLive: boolean;
  canStop: boolean;
  note?: string;
  /** Whether files can be sent as well. */
  takesFiles: boolean;
  /** What the field asks for; "Say something" if nothing else. */
  placeholder?: string;
  /** As large as the column of a page. */
  isLarge?: boolean;
  /** Stands beside the button for files, such as who answers. */
  lead?: ReactNode;
  /** Stands before the button that sends. */
  actions?: ReactNode;
  /** Stands in place of the field while a message is spoken. */
  recording?: ReactNode;
  /** The arrow up in the empty field. */
  onEditLast?: () => void;
  onSend: () => void;
  onStop: () => void;
};

/** The button for files, in front of the field that browsers have for them. */
function FilePicker({ isFull, onFiles }: { isFull: boolean; onFiles: (files: FileList | null) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        hidden
        multiple
        accept={ATTACHMENT_ENDINGS.join(",")}
        onChange={(event) => {
          onFiles(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      <ActionIcon variant="subtle" aria-label={say("attach")} disabled={isFull} onClick={() => picker.current?.click()}>
        <Paperclip size={15} />
      </ActionIcon>
    </>
  );
}

/** Where one writes: Enter sends, Shift and Enter begin a line, Escape stops the reply. */
export function ChatComposer(props: Props) {
  const { state, field, isLive, canStop, note, takesFiles, lead, actions, recording, onSend, onStop } = props;
  const placeholder = props.placeholder ?? say("placeholder");
  const [isOver, setOver] = useState(false);
  const { files } = state;
  const isReady = state.isReady && !isLive;
  /** Take files that were chosen, pasted or dropped; without any, the event goes its way. */
  const takeFiles = (list: FileList | null | undefined, event?: SyntheticEvent) => {
    if (!takesFiles || !list?.length) return;
    event?.preventDefault();
    files.add([...list]);
  };
  const markDropTarget = (event: DragEvent, isInside: boolean) => {
    if (!takesFiles || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(isInside);
  };
  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isLive) onStop();
    if (event.key === "ArrowUp" && !state.text && props.onEditLast) {
      event.preventDefault();
      props.onEditLast();
    }
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (isReady) onSend();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same with the keyboard
    <div
      className={style.composer}
      data-large={props.isLarge || undefined}
      data-over={isOver || undefined}
      onDragOver={(event) => markDropTarget(event, true)}
      onDragLeave={(event) => markDropTarget(event, false)}
      onDrop={(event) => {
        markDropTarget(event, false);
        takeFiles(event.dataTransfer.files, event);
      }}
    >
      {files.uploads.length > 0 && <AttachedUploads uploads={files.uploads} onDismiss={files.dismiss} />}
      {recording ?? (
        <>
          <Textarea
            ref={field}
            classNames={{ input: style.input }}
            autosize
            minRows={1}
            maxRows={8}
            maxLength={MAX_LENGTH}
            placeholder={placeholder}
            aria-label={placeholder}
            value={state.text}
            onChange={(event) => state.setText(event.currentTarget.value)}
            onKeyDown={handleKeyDown}
            onPaste={(event) => takeFiles(event.clipboardData.files, event)}
          />
          <div className="row g6">
            {takesFiles && <FilePicker isFull={files.uploads.length >= MAX_ATTACHMENTS} onFiles={takeFiles} />}
            {lead}
            <span className="push t-12 t-3 num">{note}</span>
            {actions}
            {canStop && (
              <ActionIcon variant="default" aria-label={say("stop")} onClick={onStop}>
                <Square size={13} />
              </ActionIcon>
            )}
            {!isLive && (
              <ActionIcon variant="filled" aria-label={say("send")} disabled={!isReady} onClick={onSend}>
                <ArrowUp size={15} />
              </ActionIcon>
            )}
          </div>
        </>
      )}
    </div>
  );
}
