import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../../../api/errors";
import { createTranslator } from "../../../../shared/i18n/words";
import { ProblemNote } from "../../../../shared/patterns/refusal_note";
import en from "../../words.en.json";
import type { DraftEditing } from "./use_draft";

const say = createTranslator(en, "features/agents");

export function DiscardDialog({ editing, onClose }: { editing: DraftEditing; onClose: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const discardDraft = async () => {
    setBusy(true);
    try {
      await editing.saver.discard();
      onClose();
    } catch (error) {
      setProblem(asApiError(error).message);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={say("discardTitle")} size={420}>
      <div className="stack g16">
        <ProblemNote>{problem}</ProblemNote>
        <p className="t-2">{say("discardText")}</p>
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button color="red" loading={isBusy} onClick={() => void discardDraft()}>
            {say("discard")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
