import {
  type OutgoingWebhook,
  rotateWebhookSecret,
  useWebhookChange,
  type WebhookSecret,
  webhookNameOf,
} from "./queries";

/** Rotates the secret of a receiver; `seconds` is how long deliveries carry the signature of the old one as well. */
export function useSecretRotation(webhook: OutgoingWebhook, onMade: (secret: WebhookSecret) => void) {
  return useWebhookChange(async (seconds: number) => {
    const { secret, previous_secret_expires_at: until } = await rotateWebhookSecret({ id: webhook.id, seconds });
    // The server tells the secret once. A callback of the dialog would not run if the dialog were gone by now.
    onMade({ secret, webhook: { id: webhook.id, name: webhookNameOf(webhook) }, until: seconds ? until : undefined });
  });
}
