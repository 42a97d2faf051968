const SAVE_AFTER_MS = 1500;

/**
 * Reports how far a visitor got, and saves the answers once the visitor asks for it.
 *
 * Where visitors leave is reported without their answers. Unsent answers are saved only for those who pressed the
 * button or came back with their link.
 */
class Saver {
  constructor(server, answers, { sessionId, isQuiet }) {
    this.server = server;
    this.answers = answers;
    this.sessionId = sessionId ?? randomId();
    this.isKept = Boolean(sessionId);
    this.isQuiet = isQuiet;
    this.onLeave = () => {
      if (document.visibilityState === "hidden") this.leave();
    };
    document.addEventListener("visibilitychange", this.onLeave);
  }

  touch(fieldId) {
    const isFirst = !this.lastFieldId;
    this.lastFieldId = fieldId;
    this.isAhead = true;
    if (this.isQuiet) return;
    if (this.isKept) {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.send(), SAVE_AFTER_MS);
    } else if (isFirst) {
      this.began = this.send();
    }
  }

  leave() {
    if (!this.isQuiet && this.isAhead && (this.isKept || this.lastFieldId !== this.toldFieldId)) this.send(true);
  }

  /** Save in the background; failures are retried with the next change. */
  async send(keepalive = false) {
    const told = this.lastFieldId;
    clearTimeout(this.waiting);
    this.isAhead = false;
    try {
      await this.server.save(this.sessionId, this.isKept ? this.answers() : {}, told, keepalive);
      this.toldFieldId = told;
    } catch {
      this.isAhead = true;
    }
  }

  /** Save the answers from now on; return the URL to come back to. */
  async keep() {
    const saved = await this.server.save(this.sessionId, this.answers(), this.lastFieldId);
    this.isKept = true;
    this.isAhead = false;
    return saved.resume_url;
  }

  stop() {
    clearTimeout(this.waiting);
    document.removeEventListener("visibilitychange", this.onLeave);
  }
}
