import { Button, Modal } from "@mantine/core";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import type { NewAuditReceiver } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");

/** The secret with which batches are signed; nothing but the button closes it, for it is shown only now. */
export const ReceiverSecret = ({ receiver, onClose }: { receiver: NewAuditReceiver; onClose: () => void }) => (
  <Modal
    opened
    onClose={onClose}
    title={say("secretTitle", { name: receiver.name })}
    size={520}
    withCloseButton={false}
    closeOnEscape={false}
    closeOnClickOutside={false}
  >
    <div className="stack g16">
      <p className="t-2">{say("secretText")}</p>
      <CopyableCode label={say("secret")} text={receiver.secret} />
      <Button className="push" onClick={onClose} data-autofocus>
        {say("secretStored")}
      </Button>
    </div>
  </Modal>
);
