/** Why a message got no answer, as the key of one of our sentences: what the service says is for its owner. */
class ChatError extends Error {
  constructor(message, { mayRetry = true, seconds, details, isRefusal = false, wasBegun = message === "cutOff" } = {}) {
    super(message);
    this.mayRetry = mayRetry;
    /** The service has the message; else it belongs back into the field. */
    this.wasBegun = wasBegun;
    /** The service answered, but not with a reply: whether it has the message is to be asked. */
    this.isRefusal = isRefusal;
    this.seconds = seconds;
    /** What is wrong with which file, for a refusal that is about files. */
    this.details = details;
  }

  say(words) {
    return fillIn(words[this.message] ?? this.message, { ...this, name: words.aFile });
  }
}

/** One visitor's conversation with one agent, over the public chat endpoint. */
class Conversation {
  constructor({ baseUrl, agentId, apiKey, user }) {
    this.baseUrl = baseUrl;
    this.url = `${baseUrl}/api/v1/public/agents/${encodeURIComponent(agentId)}`;
    this.apiKey = apiKey;
    this.user = user;
    this.storageName = `retinue-chat:${agentId}:${user?.id ?? ""}`;
    const stored = readStored(this.storageName);
    this.hasBegunBefore = Boolean(stored);
    this.sessionId = stored ?? this.startAnew();
  }

  startAnew() {
    this.sessionId = randomId();
    writeStored(this.storageName, this.sessionId);
    return this.sessionId;
  }

  /**
   * Say something; `hear` is called with each piece of the reply, and `begin` as soon as the service has the message.
   * Returns how the reply ended. If the connection breaks, the reply is what the service has of it once it answers.
   */
  async say({ text, files }, { hear, begin, report }, signal) {
    const attachments = files.length ? { attachments: files.map(({ file_id }) => ({ file_id })) } : {};
    const response = await this.send("chat", { message: text, stream: true, ...attachments }, signal);
    if (!response.ok) throw await refusal(response);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const events = new EventStreamReader();
    let messageId = null;
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error) => brokenOff(error));
        if (done) break;
        for (const event of events.push(decoder.decode(value, { stream: true }))) {
          const data = JSON.parse(event.data);
          if (event.name === "message_start") begin(messageId = data.message_id);
          if (event.name === "content_delta") hear(data.delta);
          if (event.name === "error") throw new ChatError(isUnanswerable(data) ? "cannotAnswer" : "unanswered", { wasBegun: true });
          if (event.name === "message_stop") return data;
        }
      }
    } finally {
      reader.cancel().catch(() => {});
    }
    if (!messageId) throw new ChatError("unreachable");
    return { broken: await replyAfterBreak(this, messageId, signal, report) };
  }

  /** What was said in this session so far, oldest first. */
  async messages(signal, waitFor) {
    const response = await this.send("transcript", waitFor ? { wait_for: waitFor } : {}, signal);
    if (!response.ok) throw await refusal(response);
    return (await response.json()).messages;
  }

  /** Whether the service answers. This page may read its script whatever became of the key. */
  async isReachable(signal) {
    try {
      return (await this.ask(`${this.baseUrl}/embed/widget.js`, { method: "HEAD", cache: "no-store", signal })).ok;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      return false;
    }
  }

  /** How the owner designed the widget; kept for the next page of this visit. */
  async design() {
    const response = await this.request("widget", { method: "GET" });
    if (response.status === 403) throw await ownersRefusal(response);
    if (!response.ok) throw await refusal(response);
    const design = await response.json();
    this.keep("design", { at: Date.now(), design });
    return design;
  }

  /**
   * The reply once an approval has been decided, until `signal` says stop. The service holds each request until then,
   * for 20 seconds at most. A page that nobody looks at asks nothing, and after an hour there are pauses.
   */
  async decided(messageId, signal) {
    const begunAt = Date.now();
    for (;;) {
      await whileHidden(signal);
      const askedAt = Date.now();
      let isHeld = true;
      const messages = await this.messages(signal, messageId).catch((error) => {
        if (error.name === "AbortError" || error.mayRetry === false) throw error;
        isHeld = false;
        return [];
      });
      const reply = messages.find((one) => one.id === messageId);
      if (reply && !reply.is_waiting) return reply;
      const isAtOnce = Date.now() - askedAt < 5000;
      await pause(!isHeld || isAtOnce ? 10000 : askedAt - begunAt > 3600000 ? 30000 : 0, signal);
    }
  }

  /** Upload a file for this session; `report` hears which share has arrived. Resolves to the stored file. */
  upload(request, file, report) {
    const form = new FormData();
    form.append("session_id", this.sessionId);
    form.append("file", file);
    return new Promise((resolve, reject) => {
      request.upload.addEventListener("progress", (event) => event.lengthComputable && report(event.loaded / event.total));
      request.addEventListener("load", () => {
        const answer = parsed(request.responseText);
        if (request.status === 201 && answer) resolve(answer);
        else reject(new ChatError(fileRefusal(request.status, answer?.error) ?? (request.status === 429 ? "tooMany" : "failed")));
      });
      for (const name of ["error", "abort", "timeout"]) {
        request.addEventListener(name, () => reject(new ChatError("unreachable")));
      }
      request.open("POST", `${this.url}/files`);
      request.setRequestHeader("Authorization", `Bearer ${this.apiKey}`);
      request.send(form);
    });
  }

  send(operation, more, signal) {
    const body = { session_id: this.sessionId, ...more };
    if (this.user) body.user = this.user;
    const headers = {
      Accept: more.stream ? "text/event-stream" : "application/json",
      "Content-Type": "application/json",
    };
    return this.request(operation, { method: "POST", headers, body: JSON.stringify(body), signal });
  }

  request(operation, options) {
    const headers = { ...options.headers, Authorization: `Bearer ${this.apiKey}` };
    return this.ask(`${this.url}/${operation}`, { ...options, headers });
  }

  async ask(address, options) {
    try {
      return await fetch(address, { ...options, credentials: "omit" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      // The browser says no more: no network, or an origin or a key that the server refused.
      throw new ChatError("unreachable");
    }
  }

  keep(name, value) {
    writeStored(`${this.storageName}:${name}`, JSON.stringify(value));
  }

  readKept(name) {
    try {
      return JSON.parse(readStored(`${this.storageName}:${name}`));
    } catch {
      return null;
    }
  }
}

/** A connection that breaks ends the stream; a visitor who stops it does not want the rest. */
function brokenOff(error) {
  if (error.name === "AbortError") throw error;
  return { done: true };
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    }, { once: true });
  });
}

/** Wait until the page is looked at. */
function whileHidden(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const finish = (settle) => {
      done.abort();
      settle();
    };
    document.addEventListener("visibilitychange", () => document.hidden || finish(resolve), { signal: done.signal });
    signal?.addEventListener("abort", () => finish(() => reject(new DOMException("stopped", "AbortError"))), {
      signal: done.signal,
    });
  });
}

/** Reasons that its owner has to do something about: a visitor reads only that there is no answer now. */
const CANNOT_ANSWER = new Set(["budget_exceeded", "model_not_configured", "model_unpriced", "token_budget_exceeded", "vault_sealed"]);
/** A limit with a scope is one of the owner, not of this visitor: waiting a little does not help. */
const isUnanswerable = (error) => CANNOT_ANSWER.has(error?.code) || Boolean(error?.details?.scope);

async function refusal(response) {
  const envelope = await response.json().catch(() => null);
  if (isUnanswerable(envelope?.error)) return new ChatError("cannotAnswer", { isRefusal: true });
  if (response.status === 429) {
    const seconds = Number(response.headers.get("Retry-After"));
    if (seconds > 0 && seconds < 120) return new ChatError("tooManyFor", { seconds });
    // What a key may use up in a month is not about this visitor.
    return new ChatError(response.headers.get("X-RateLimit-Scope") ? "tooMany" : "cannotAnswer");
  }
  const aboutFiles = fileRefusal(response.status, envelope?.error);
  if (aboutFiles) return new ChatError(aboutFiles, { mayRetry: false, details: envelope?.error?.details ?? {} });
  if (response.status < 500 && response.status !== 422) {
    return new ChatError("unavailable", { mayRetry: false });
  }
  return new ChatError("failed", { isRefusal: true });
}

/** A refusal that only the owner of the page can do something about, with the sentence of the service for them. */
async function ownersRefusal(response) {
  const envelope = await response.json().catch(() => null);
  const error = new ChatError("unavailable", { mayRetry: false });
  error.reason = envelope?.error?.message ?? "The key does not allow it.";
  return error;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// A page may have no storage: then the conversation lives as long as the page.
function readStored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function writeStored(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // See above.
  }
}
