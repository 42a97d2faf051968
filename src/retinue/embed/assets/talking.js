/** Why a message got no answer, as the key of one of our sentences: what the service says is for its owner. */
class ChatError extends Error {
  constructor(message, { mayRetry = true, seconds, details } = {}) {
    super(message);
    this.mayRetry = mayRetry;
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

  /** Say something; `hear` is called with each piece of the reply. Returns how the reply ended. */
  async say({ text, files }, hear, signal) {
    const attachments = files.length ? { attachments: files.map(({ file_id }) => ({ file_id })) } : {};
    const response = await this.send("chat", { message: text, stream: true, ...attachments }, signal);
    if (!response.ok) throw await refusal(response);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const events = new EventStreamReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new ChatError("cutOff");
        for (const event of events.push(decoder.decode(value, { stream: true }))) {
          const data = JSON.parse(event.data);
          if (event.name === "content_delta") hear(data.delta);
          if (event.name === "error") throw new ChatError("failed");
          if (event.name === "message_stop") return data;
        }
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** What was said in this session so far, oldest first. */
  async messages(signal, waitFor) {
    const response = await this.send("transcript", waitFor ? { wait_for: waitFor } : {}, signal);
    if (!response.ok) throw await refusal(response);
    return (await response.json()).messages;
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

  async request(operation, options) {
    try {
      return await fetch(`${this.url}/${operation}`, {
        ...options,
        headers: { ...options.headers, Authorization: `Bearer ${this.apiKey}` },
        credentials: "omit",
      });
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

async function refusal(response) {
  if (response.status === 429) {
    const seconds = Number(response.headers.get("Retry-After"));
    return seconds > 0 && seconds < 120 ? new ChatError("tooManyFor", { seconds }) : new ChatError("tooMany");
  }
  const envelope = await response.json().catch(() => null);
  const aboutFiles = fileRefusal(response.status, envelope?.error);
  if (aboutFiles) return new ChatError(aboutFiles, { mayRetry: false, details: envelope?.error?.details ?? {} });
  if (response.status < 500 && response.status !== 422) {
    return new ChatError("unavailable", { mayRetry: false });
  }
  return new ChatError("failed");
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
