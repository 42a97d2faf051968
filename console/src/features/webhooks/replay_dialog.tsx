import RotateCw from "icon:rotate-cw";
import { Button, Modal, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { showToast } from "../../shared/toast/toasts";
import { deliveryCountQuery, type OutgoingWebhook, replayDeliveries, useWebhookChange, webhookNameOf } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");
const HOUR_MS = 3_600_000;
const SPANS = { ever: 0, hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS } as const;
type Span = keyof typeof SPANS;
const NAMES = Object.keys(SPANS) as Span[];

type Props = { webhook: OutgoingWebhook; onClose: () => void };

/** Sends again what was given up since a moment; the button says how many that are. */
export function ReplayDialog({ webhook, onClose }: Props) {
  const [{ span, from }, setSince] = useState<{ span: Span; from?: string }>({ span: "ever" });
  const count = useQuery(deliveryCountQuery(webhook.id, "failed", from));
  const replay = useWebhookChange(replayDeliveries);
  const chooseSpan = (name: string) => {
    const next = NAMES.find((one) => one === name) ?? "ever";
    setSince({ span: next, from: SPANS[next] ? new Date(Date.now() - SPANS[next]).toISOString() : undefined });
  };
  const confirmReplay = () =>
    replay.mutate(
      { id: webhook.id, from },
      {
        onSuccess: ({ queued }) => {
          showToast(say("isReplayed", { count: queued }));
          onClose();
        },
      },
    );
  return (
    <Modal opened onClose={onClose} title={say("replayTitle", { name: webhookNameOf(webhook) })} size={520}>
      <div className="stack g16">
        <RefusalNote error={replay.error} />
        <SegmentedControl
          aria-label={say("givenUpSince")}
          data={NAMES.map((value) => ({ value, label: say(`since_${value}`) }))}
          value={span}
          onChange={chooseSpan}
        />
        <p className="t-2">{say("replayText")}</p>
        <div className="row g8 wrap">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button
            leftSection={<RotateCw size={14} />}
            disabled={!count.data}
            loading={replay.isPending}
            onClick={confirmReplay}
          >
            {say("replay", { count: count.data ?? 0 })}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
