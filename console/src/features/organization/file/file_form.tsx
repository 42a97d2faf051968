import FileUp from "icon:file-up";
import X from "icon:x";
import { ActionIcon, Button, Checkbox, FileButton, Textarea } from "@mantine/core";
import { useState } from "react";
import { formatBytes } from "../../../shared/byte_size";
import { createTranslator } from "../../../shared/i18n/words";
import { createSubmitHandler } from "../../../shared/submit_handler";
import style from "../organization.module.css";
import en from "../words.en.json";

const say = createTranslator(en, "features/organization");
const MAX_BYTES = 8 * 1024 * 1024;
export type FileRequest = { document: string; prune: boolean };
type ChosenFile = { name: string; size: number; text: string };

type FileFormProps = {
  isBusy: boolean;
  /** Whether what was compared waits to be applied: then that is what the page is for. */
  isCompared: boolean;
  onChange: () => void;
  onCompare: (request: FileRequest) => void;
};

/** A file that is chosen or pasted, and whether what it does not name is deleted. */
export function TenantFileForm({ isBusy, isCompared, onChange, onCompare }: FileFormProps) {
  const [pasted, setPasted] = useState("");
  const [file, setFile] = useState<ChosenFile>();
  const [prune, setPrune] = useState(false);
  const [problem, setProblem] = useState("");
  const takeFile = async (chosen: File | null) => {
    if (!chosen) return;
    onChange();
    const isTooLarge = chosen.size > MAX_BYTES;
    setProblem(isTooLarge ? say("tooLarge", { size: formatBytes(MAX_BYTES) }) : "");
    setFile(isTooLarge ? undefined : { name: chosen.name, size: chosen.size, text: await chosen.text() });
  };
  const document = file?.text ?? pasted;
  return (
    <form
      className={`card ${style.card}`}
      onSubmit={createSubmitHandler(async () => onCompare({ document, prune }))}
      aria-label={say("import")}
    >
      <p className="t-13 t-2">{say("importText")}</p>
      {file ? (
        <div className="row g8">
          <FileUp size={15} />
          <span className="mono t-13 cut">{file.name}</span>
          <span className="t-12 t-3">{formatBytes(file.size)}</span>
          <ActionIcon
            size={24}
            aria-label={say("dropFile", { name: file.name })}
            onClick={() => {
              setFile(undefined);
              onChange();
            }}
          >
            <X size={13} />
          </ActionIcon>
        </div>
      ) : (
        <Textarea
          label={say("paste")}
          classNames={{ input: style.source }}
          error={problem || undefined}
          autosize
          minRows={6}
          maxRows={18}
          spellCheck={false}
          placeholder={"retinue: 1\nagents:\n  Support:\n    system_prompt: …"}
          value={pasted}
          onChange={(event) => {
            setPasted(event.currentTarget.value);
            onChange();
          }}
        />
      )}
      <Checkbox
        label={say("prune")}
        description={say("pruneHint")}
        checked={prune}
        onChange={(event) => {
          setPrune(event.currentTarget.checked);
          onChange();
        }}
      />
      <div className="row g8 wrap">
        <Button type="submit" variant={isCompared ? "default" : "filled"} loading={isBusy} disabled={!document.trim()}>
          {say("compare")}
        </Button>
        <FileButton accept=".yaml,.yml,.json,application/yaml,application/json" onChange={(one) => void takeFile(one)}>
          {(props) => (
            <Button {...props} variant="default" leftSection={<FileUp size={14} />}>
              {say("chooseFile")}
            </Button>
          )}
        </FileButton>
        <span className="t-12 t-3">{say("compareHint")}</span>
      </div>
    </form>
  );
}
