import { Switch } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import { type OutgoingWebhook, updateWebhook, useWebhookChange, webhookNameOf } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

/** Switches a webhook on or off at once. Those who may not change it see in words how it stands. */
export function WebhookSwitch({ webhook }: { webhook: OutgoingWebhook }) {
  const mayWrite = usePermissionCheck()("webhooks:write");
  const change = useWebhookChange(updateWebhook);
  if (!mayWrite) return <span className="t-13 t-2">{say(webhook.active ? "on" : "off")}</span>;
  return (
    <Switch
      size="xs"
      aria-label={say("isOn", { name: webhookNameOf(webhook) })}
      checked={change.isPending ? Boolean(change.variables.active) : webhook.active}
      onChange={(event) =>
        change.mutate(
          { id: webhook.id, active: event.currentTarget.checked },
          { onError: (error) => showToast(asApiError(error).message) },
        )
      }
    />
  );
}
