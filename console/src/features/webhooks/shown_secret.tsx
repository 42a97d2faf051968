import { Button, Modal } from "@mantine/core";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { formatTimeOfDay } from "../../shared/time";
import type { WebhookSecret } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

type Props = { shown: WebhookSecret; onClose: () => void };

/** The only time that a secret is shown; nothing but the button closes it. */
export function WebhookSecretDialog({ shown: { secret, webhook, until }, onClose }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={say("secretOf", { name: webhook.name })}
      size={520}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <div className="stack g16">
        <Note tone="warn">{say("secretOnce")}</Note>
        <CopyableCode label={say("signingSecret")} text={secret} />
        {until && <p className="t-13 t-2">{say("previousUntil", { when: formatTimeOfDay(until) })}</p>}
        <Button className="push" onClick={onClose}>
          {say("secretKept")}
        </Button>
      </div>
    </Modal>
  );
}
