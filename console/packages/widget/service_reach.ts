import type { ChatService } from "./chat_types";
import { waitUntilServiceReachable } from "./recovery";

/** Whether the service answers, as far as the widget has heard. */
export class ServiceReach {
  isLost = false;
  private watching: Promise<void> | null = null;

  constructor(
    private readonly conversation: ChatService,
    private readonly signal: AbortSignal,
    private readonly changed: () => void,
  ) {}

  readonly report = (isReached: boolean) => {
    this.isLost = !isReached;
    this.changed();
  };

  /** Ask until the service is back, so that what is said about it stays true. */
  watch() {
    this.watching ??= waitUntilServiceReachable(this.conversation, this.signal, this.report)
      .catch(() => this.report(true))
      .finally(() => {
        this.watching = null;
      });
  }
}
