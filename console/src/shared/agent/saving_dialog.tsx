import { Modal } from "@mantine/core";
import { createTranslator } from "../i18n/words";
import type { DraftSave } from "./unsaved";
import { UnsavedDraftWarning } from "./unsaved_note";
import en from "./words.en.json";

const say = createTranslator(en, "shared/agent");
type Props = { agentId: string; save: DraftSave; onClose: () => void };

/** Stands in the place of a review while what was typed is on its way, or could not be saved. */
export default function SavingDialog({ agentId, save, onClose }: Props) {
  return (
    <Modal opened onClose={onClose} title={say("publish")} size={460}>
      {save.state === "waiting" ? (
        <p className="t-2" role="status">
          {say("savingFirst")}
        </p>
      ) : (
        <UnsavedDraftWarning agentId={agentId} reason={save.reason} />
      )}
    </Modal>
  );
}
