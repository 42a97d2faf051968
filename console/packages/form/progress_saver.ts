import { createRandomId } from "@retinue/elements";
import type { FormServer } from "./form_server";
import type { Answers } from "./form_types";

const SAVE_DELAY_MS = 1500;

type SaverOptions = { sessionId: string | null; isPreview: boolean };

/**
 * Reports how far a visitor got, and saves the answers once the visitor asks for it.
 *
 * Where visitors leave is reported without their answers. Unsent answers are saved only for those who pressed the
 * button or came back with their link.
 */
export class ProgressSaver {
  sessionId: string;
  lastFieldId: string | undefined;
  /** The first report: it must not arrive after the submission. */
  firstReport: Promise<void> | undefined;
  private savesAnswers: boolean;
  private hasChanges = false;
  private savedFieldId: string | undefined;
  private timer: number | undefined;
  private readonly isPreview: boolean;

  constructor(
    private readonly server: FormServer,
    private readonly readAnswers: () => Answers,
    { sessionId, isPreview }: SaverOptions,
  ) {
    this.sessionId = sessionId ?? createRandomId();
    this.savesAnswers = Boolean(sessionId);
    this.isPreview = isPreview;
    document.addEventListener("visibilitychange", this.onVisibilityChange);
  }

  private readonly onVisibilityChange = () => {
    if (document.visibilityState === "hidden") this.reportLeaving();
  };

  /** Start anew under another id, as nothing is saved under this one. */
  resetSession() {
    this.savesAnswers = false;
    this.sessionId = createRandomId();
  }

  noteChange(fieldId: string) {
    const isFirst = !this.lastFieldId;
    this.lastFieldId = fieldId;
    this.hasChanges = true;
    if (this.isPreview) return;
    if (this.savesAnswers) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.saveQuietly(), SAVE_DELAY_MS);
    } else if (isFirst) {
      this.firstReport = this.saveQuietly();
    }
  }

  private reportLeaving() {
    const isDue = this.savesAnswers || this.lastFieldId !== this.savedFieldId;
    if (!this.isPreview && this.hasChanges && isDue) void this.saveQuietly(true);
  }

  /** Save in the background; failures are retried with the next change. */
  private async saveQuietly(keepalive = false) {
    const fieldId = this.lastFieldId;
    clearTimeout(this.timer);
    this.hasChanges = false;
    try {
      const answers = this.savesAnswers ? this.readAnswers() : {};
      await this.server.saveProgress(this.sessionId, answers, fieldId, keepalive);
      this.savedFieldId = fieldId;
    } catch {
      this.hasChanges = true;
    }
  }

  /** Save the answers from now on; return the URL to come back to. */
  async saveForLater(): Promise<string> {
    const saved = await this.server.saveProgress(this.sessionId, this.readAnswers(), this.lastFieldId);
    this.savesAnswers = true;
    this.hasChanges = false;
    return saved.resume_url;
  }

  stop() {
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.onVisibilityChange);
  }
}
