import { Modal } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import type { ToolMade } from "../queries";
import en from "../words.en.json";
import { NewTool } from "./ways";

const say = createTranslator(en, "features/tools");

/** The same as the page, over the screen that needs the tool. */
export default function NewToolDialog({ onMade, onClose }: { onMade: (tool: ToolMade) => void; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={say("add")} size={980}>
      <div className="stack g16">
        <NewTool onMade={onMade} onCancel={onClose} />
      </div>
    </Modal>
  );
}
