import type { Tone } from "../../../shared/marks/status";
import type { Subscription } from "../queries";

/** How a subscription stands: what fails outranks what never happened. */
export function subscriptionTone({ active, last_error, last_triggered_at }: Subscription): Tone {
  if (!active) return "idle";
  if (last_error) return "bad";
  return last_triggered_at ? "ok" : "idle";
}
