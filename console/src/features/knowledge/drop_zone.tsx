import FileUp from "icon:file-up";
import X from "icon:x";
import { ActionIcon, Button, Modal, Textarea, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ClipboardEvent, type DragEvent, useRef, useState } from "react";
import { formatBytes } from "../../shared/byte_size";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon } from "../../shared/marks/kind_icon";
import { LeaveQuestion } from "../../shared/patterns/leave_question";
import style from "./knowledge.module.css";
import { EXTENSIONS, isUploadUnderWay, type Upload, type UploadProblem } from "./upload_queue";
import { useUploadQueue } from "./uploads";
import en from "./words.en.json";

const say = createTranslator(en, "features/knowledge");
const TEXT_NAME_LENGTH = 80;
const LEAVE_WORDS = { title: say("leaveTitle"), text: say("leaveText"), action: say("leave") };

const describeUploadProblem = (problem: UploadProblem | undefined): string => {
  if (typeof problem === "object") return problem.message;
  return say(problem === "size" ? "tooLarge" : problem === "empty" ? "emptyFile" : "wrongType");
};

/** Where documents come in: dropped, chosen or pasted. */
export function DocumentDropZone({ agentId, isLarge }: { agentId: string; isLarge: boolean }) {
  const { uploads, queue } = useUploadQueue(agentId);
  const { add, addAnyway, retry, dismiss } = queue;
  const [isOver, setOver] = useState(false);
  const [pasted, setPasted] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const handleDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    add([...event.dataTransfer.files]);
  };
  const handlePaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    const text = event.clipboardData.getData("text/plain");
    if (files.length) add(files);
    else if (text.trim()) setPasted(text);
    else return;
    event.preventDefault();
  };
  return (
    <div className={style.intake}>
      <LeaveQuestion hasChanges={uploads.some(isUploadUnderWay)} words={LEAVE_WORDS} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping and pasting have buttons as their equivalent */}
      <div
        className={`${style.zone} ${isLarge ? style.large : ""}`}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={handleDrop}
        onPaste={handlePaste}
      >
        <KindIcon kind="know" />
        <div className="stack grow">
          <span className="t-500 t-13">{say(isOver ? "dropNow" : "drop")}</span>
          <span className="t-12 t-3">{say("dropHint")}</span>
        </div>
        <div className="row g6 wrap">
          <Button leftSection={<FileUp size={14} />} onClick={() => input.current?.click()}>
            {say("choose")}
          </Button>
          <Button variant="default" onClick={() => setPasted("")}>
            {say("paste")}
          </Button>
        </div>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={say("choose")}
          accept={EXTENSIONS.join(",")}
          onChange={(event) => {
            add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
      </div>
      {uploads.length > 0 && (
        <ul className={style.uploads} aria-label={say("uploads")}>
          {uploads.map((one) => (
            <UploadRow
              key={one.key}
              agentId={agentId}
              upload={one}
              onAddAnyway={() => addAnyway(one.key)}
              onRetry={() => retry(one.key)}
              onDismiss={() => dismiss(one.key)}
            />
          ))}
        </ul>
      )}
      {pasted !== undefined && (
        <PasteTextDialog text={pasted} onAdd={(file) => add([file])} onClose={() => setPasted(undefined)} />
      )}
    </div>
  );
}

type RowProps = {
  agentId: string;
  upload: Upload;
  onAddAnyway: () => void;
  onRetry: () => void;
  onDismiss: () => void;
};

function UploadRow({ agentId, upload, onAddAnyway, onRetry, onDismiss }: RowProps) {
  const { file, state, share, problem, twin } = upload;
  const percent = Math.round(share * 100);
  const hasFailed = state === "failed";
  const isOver = hasFailed || state === "known";
  return (
    <li className={style.upload} data-state={state}>
      <div className="row g8">
        <span className="t-13 t-500 cut grow">{file.name}</span>
        <span className="t-12 t-3 num fix">{formatBytes(file.size)}</span>
        {!isOver && (
          <span className="t-12 t-3 fix">{say(state === "sending" ? "sending" : "waiting", { percent })}</span>
        )}
        <ActionIcon size={24} aria-label={say(isOver ? "dismiss" : "stop", { name: file.name })} onClick={onDismiss}>
          <X size={14} />
        </ActionIcon>
      </div>
      {hasFailed ? (
        <div className={style.outcome}>
          <span className={`t-12 ${style.reason}`} role="alert">
            {describeUploadProblem(problem)}
          </span>
          {typeof problem === "object" && (
            <Button size="xs" variant="default" onClick={onRetry}>
              {say("retry")}
            </Button>
          )}
        </div>
      ) : state === "known" && twin ? (
        <div className={style.outcome}>
          <span className="t-12 t-2" role="status">
            {say("alreadyThere", { name: twin.name })}{" "}
            <Link
              className="inline-link"
              to="/agents/$agentId/knowledge"
              params={{ agentId }}
              search={{ document: twin.id }}
            >
              {say("openPassages")}
            </Link>
          </span>
          <Button size="xs" variant="default" onClick={onAddAnyway}>
            {say("addAnyway")}
          </Button>
        </div>
      ) : (
        <div
          className="meter run"
          role="progressbar"
          aria-label={file.name}
          aria-valuenow={percent}
          aria-valuemin={0}
          aria-valuemax={100}
        >
          <i style={{ width: `${percent}%` }} />
        </div>
      )}
    </li>
  );
}

function PasteTextDialog({
  text: pastedText,
  onAdd,
  onClose,
}: {
  text: string;
  onAdd: (file: File) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState(pastedText);
  const [name, setName] = useState(() => pastedText.trim().split("\n")[0]?.slice(0, TEXT_NAME_LENGTH) ?? "");
  const addPastedText = () => {
    const safe = (name.trim() || say("pasteNameDefault")).replace(/[\\/:*?"<>|]+/g, " ");
    onAdd(new File([text], `${safe}.md`, { type: "text/markdown" }));
    onClose();
  };
  return (
    <Modal opened onClose={onClose} title={say("pasteTitle")} size={560}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          addPastedText();
        }}
      >
        <TextInput
          label={say("pasteName")}
          placeholder={say("pasteNameDefault")}
          value={name}
          maxLength={TEXT_NAME_LENGTH}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          label={say("pasteText")}
          autosize
          minRows={8}
          maxRows={18}
          value={text}
          data-autofocus
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button type="submit" disabled={!text.trim()}>
            {say("pasteAdd")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
