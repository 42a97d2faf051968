/* What a visitor has written and nobody has answered: kept for the tab, so that a reload loses nothing. */

class UnsentMessage {
  constructor(conversation) {
    this.conversation = conversation;
  }

  get name() {
    return `${this.conversation.storageName}:${this.conversation.sessionId}:unsent`;
  }

  /**
   * The text and the files that are not sent, a question on its way that the service has not confirmed, and the last
   * question if it failed, with why.
   */
  read() {
    const none = { text: "", files: [], asked: null, failed: null };
    try {
      return { ...none, ...JSON.parse(sessionStorage.getItem(this.name)) };
    } catch {
      return none;
    }
  }

  write(part) {
    const { text, files, asked, failed } = { ...this.read(), ...part };
    const question = (one) => one && { ...one, bubble: undefined, files: named(one.files) };
    const kept = { text, files: named(files), asked: question(asked), failed: question(failed) };
    try {
      if (text || files.length || asked || failed) sessionStorage.setItem(this.name, JSON.stringify(kept));
      else sessionStorage.removeItem(this.name);
    } catch {
      // Without storage, a reload begins with an empty field.
    }
  }
}

/** Of files only what the service knows of them can be kept. */
function named(files) {
  return files.map(({ file_id, filename }) => ({ file_id, filename }));
}

/** A question in front of what was written since; once is enough. */
function putBefore(question, text) {
  if (!question || text === question || text.startsWith(`${question}\n`)) return text;
  return [question, text].filter(Boolean).join("\n");
}

/** A question that failed, to be told once more after a reload. */
function asFailed({ text, typed, files }, failure) {
  const { message, mayRetry, wasBegun } = failure instanceof ChatError ? failure : new ChatError("failed");
  // How long to wait is over by then.
  return { text, typed, files, isPutBack: !wasBegun, message: message === "tooManyFor" ? "tooMany" : message, mayRetry };
}

function asError({ message, mayRetry, isPutBack }) {
  return new ChatError(message, { mayRetry, wasBegun: !isPutBack });
}

/**
 * What was kept, after a look at what the service has: a question stands in the conversation or in the field, never in
 * both, and why it failed is told once.
 */
function unsentAfter({ text, files, asked, failed }, messages) {
  const last = messages.at(-1);
  const isLast = (question) => last?.role === "user" && last.content === question;
  const isStored = Boolean(text) && isLast(text);
  const stored = new Set(isStored ? last.attachments?.map((file) => file.file_id) : []);
  const lastQuestion = messages.findLast(({ role }) => role === "user")?.content;
  const isAsked = Boolean(asked) && asked.text !== lastQuestion;
  const now = {
    text: isStored ? "" : text,
    files: files.filter((file) => !stored.has(file.file_id)),
    asked: isAsked ? asked : null,
  };
  const isTold = failed && isLast(failed.text) && last.has_failed;
  const isInField = Boolean(now.text || now.files.length);
  if (failed && !isTold && isLast(failed.text)) return { ...now, failed: { ...failed, isPutBack: false } };
  if (failed?.isPutBack && !isTold && isInField) return { ...now, failed };
  return { ...now, failed: isAsked ? asFailed(asked, new ChatError("unanswered")) : null };
}
