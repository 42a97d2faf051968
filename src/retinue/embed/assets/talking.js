/** Why a message got no answer, in words for whoever wrote it. */
class ChatError extends Error {
  constructor(message, { mayRetry = true } = {}) {
    super(message);
    this.mayRetry = mayRetry;
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
  async say(message, hear, signal) {
    const response = await this.send("chat", { message, stream: true }, signal);
    if (!response.ok) throw await refusal(response);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const events = new EventStreamReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new ChatError("The answer was cut off.");
        for (const event of events.push(decoder.decode(value, { stream: true }))) {
          const data = JSON.parse(event.data);
          if (event.name === "content_delta") hear(data.delta);
          if (event.name === "error") throw new ChatError(data.message);
          if (event.name === "message_stop") return data;
        }
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** What was said in this session so far, oldest first. */
  async messages(signal) {
    const response = await this.send("transcript", {}, signal);
    if (!response.ok) throw await refusal(response);
    return (await response.json()).messages;
  }

  /** The reply once an approval has been decided; asks less and less often, and until `signal` says stop. */
  async decided(messageId, signal) {
    for (let pauseMs = 2000; ; pauseMs = Math.min(pauseMs * 1.5, 30000)) {
      await pause(pauseMs, signal);
      const messages = await this.messages(signal).catch((error) => {
        if (error.name === "AbortError" || error.mayRetry === false) throw error;
        return [];
      });
      const reply = messages.find((one) => one.id === messageId);
      if (reply && !reply.is_waiting) return reply;
    }
  }

  async send(operation, more, signal) {
    const body = { session_id: this.sessionId, ...more };
    if (this.user) body.user = this.user;
    try {
      return await fetch(`${this.url}/${operation}`, {
        method: "POST",
        headers: {
          Accept: more.stream ? "text/event-stream" : "application/json",
          Authorization: `Bearer ${this.apiKey}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify(body),
        credentials: "omit",
        signal,
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      // The browser says no more: no network, or an origin or a key that the server refused.
      throw new ChatError("The chat cannot be reached from here.");
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

async function refusal(response) {
  if (response.status === 429) {
    const seconds = Number(response.headers.get("Retry-After"));
    const when = seconds > 0 && seconds < 120 ? `in ${seconds} s` : "later";
    return new ChatError(`Too many messages. Try again ${when}.`);
  }
  if (response.status < 500 && response.status !== 422) {
    return new ChatError("The chat is not available here.", { mayRetry: false });
  }
  const envelope = await response.json().catch(() => null);
  return new ChatError(envelope?.error?.message ?? "Something went wrong.");
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
