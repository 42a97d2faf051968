import { Button, Modal, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { type OutgoingWebhook, type WebhookSecret, webhookNameOf } from "./queries";
import { useSecretRotation } from "./use_secret_rotation";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");
const DAY_SECONDS = 86_400;
const GRACES = { none: 0, day: DAY_SECONDS, week: 7 * DAY_SECONDS } as const;
type Grace = keyof typeof GRACES;
const NAMES = Object.keys(GRACES) as Grace[];

type Props = { webhook: OutgoingWebhook; onMade: (secret: WebhookSecret) => void; onClose: () => void };

/** A new secret; for a while deliveries carry the signatures of both, so that a receiver can change over. */
export function RotateSecretDialog({ webhook, onMade, onClose }: Props) {
  const [grace, setGrace] = useState<Grace>("day");
  const rotate = useSecretRotation(webhook, onMade);
  const name = webhookNameOf(webhook);
  return (
    <Modal opened onClose={() => rotate.isPending || onClose()} title={say("rotateTitle", { name })} size={480}>
      <div className="stack g16">
        <RefusalNote error={rotate.error} />
        <p className="t-2">{say("rotateText")}</p>
        <SegmentedControl
          aria-label={say("grace")}
          data={NAMES.map((value) => ({ value, label: say(`grace_${value}`) }))}
          value={grace}
          onChange={(value) => setGrace(NAMES.find((one) => one === value) ?? "day")}
        />
        <div className="row g8 wrap">
          <Button variant="default" className="push" disabled={rotate.isPending} onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button loading={rotate.isPending} onClick={() => rotate.mutate(GRACES[grace], { onSuccess: onClose })}>
            {say("rotate")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
