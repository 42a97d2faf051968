import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../../../api/errors";
import { words } from "../../../../shared/i18n/words";
import en from "../../words.en.json";
import type { DraftEditing } from "./use_draft";

const say = words(en, "features/agents");

export function DiscardDialog({ editing, onClose }: { editing: DraftEditing; onClose: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const discard = async () => {
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
        {problem && (
          <div className="note bad" role="alert">
            {problem}
          </div>
        )}
        <p className="t-2">{say("discardText")}</p>
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button color="red" loading={isBusy} onClick={() => void discard()}>
            {say("discard")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
