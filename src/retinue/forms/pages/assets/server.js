/** An error response of the server, with a message for the visitor. */
class Refusal extends Error {
  constructor(message, { code = "", status = 0, errors = [] } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.errors = errors;
  }
}

/** Return a message for the visitor. Anything but a `Refusal` is a bug and is reported to the console. */
function toldOf(error) {
  if (error instanceof Refusal) return error.message;
  reportError(error);
  return "Something went wrong. Try again.";
}

/** Reasons that the form's owner has to do something about: a visitor reads only that there is no answer now. */
const CANNOT_ANSWER = ["budget_exceeded", "model_error", "model_not_configured", "model_timeout", "model_unpriced", "vault_sealed"];
const NO_ANSWER = "There is no answer at this moment. Try again later, or fill in the form instead.";
const UNREACHABLE = "The server cannot be reached at this moment. Try again.";

function refusalOf(status, retryAfter, envelope) {
  const { code = "", message = "Something went wrong. Try again.", details } = envelope?.error ?? {};
  if (CANNOT_ANSWER.includes(code)) return new Refusal(NO_ANSWER, { code, status });
  if (status === 429) {
    const seconds = Number(retryAfter);
    const when = seconds > 0 && seconds < 120 ? `in ${seconds} seconds` : "later";
    return new Refusal(`Too many requests. Try again ${when}.`, { code, status });
  }
  const errors = Array.isArray(details?.errors) ? details.errors : [];
  return new Refusal(message, { code, status, errors });
}

/** The public API of one form. */
class FormServer {
  constructor(baseUrl, slug) {
    this.url = `${baseUrl}/api/v1/public/forms/${encodeURIComponent(slug)}`;
  }

  /** Return the response; throw a `Refusal` on errors. */
  async call(path, { method = "GET", body, headers = {}, keepalive = false } = {}) {
    const sent = { ...headers };
    if (body !== undefined) sent["Content-Type"] = "application/json";
    let response;
    try {
      response = await fetch(this.url + path, {
        method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), credentials: "omit", keepalive,
      });
    } catch {
      throw new Refusal(UNREACHABLE);
    }
    const answer = await response.json().catch(() => null);
    if (!response.ok) throw refusalOf(response.status, response.headers.get("Retry-After"), answer);
    return answer;
  }

  /** Ask with growing pauses until the server answers, as long as somebody wants to know. */
  async whenBack(isWanted) {
    for (let failed = 0; ; failed += 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(30000, 1000 * 2 ** failed) * (0.8 + 0.4 * Math.random())));
      if (!isWanted()) return;
      const isGone = await this.call("").then(() => false, (error) => !error.status || error.status >= 500);
      if (!isGone) return;
    }
  }

  async form(isPreview) {
    return (await this.call(isPreview ? "?preview=1" : "")).data;
  }

  async options(fieldId, search) {
    const query = search ? `?search=${encodeURIComponent(search.slice(0, 200))}` : "";
    return (await this.call(`/fields/${encodeURIComponent(fieldId)}/options${query}`)).data;
  }

  /** Without a response, a retry uses the same idempotency key, so that the submission is stored once. */
  async submit(body) {
    const text = JSON.stringify(body);
    if (this.unanswered?.text !== text) this.unanswered = { text, key: randomId() };
    try {
      const answer = await this.call("/submit", { method: "POST", body, headers: { "Idempotency-Key": this.unanswered.key } });
      this.unanswered = null;
      return answer;
    } catch (error) {
      if (error.status) this.unanswered = null;
      throw error;
    }
  }

  async save(sessionId, data, lastFieldId, keepalive = false) {
    const body = { data, last_field_id: lastFieldId };
    return (await this.call(`/progress/${encodeURIComponent(sessionId)}`, { method: "PUT", body, keepalive })).data;
  }

  async saved(sessionId) {
    return (await this.call(`/progress/${encodeURIComponent(sessionId)}`)).data;
  }

  /** Uses XMLHttpRequest, because `fetch` does not report upload progress. */
  upload(fieldId, file, { onProgress, signal }) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const body = new FormData();
      body.append("field_id", fieldId);
      body.append("file", file, file.name);
      request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total ? loaded / total : 0));
      request.addEventListener("load", () => {
        const answer = readJson(request.responseText);
        if (request.status < 300 && answer) resolve(answer.data);
        else reject(refusalOf(request.status, request.getResponseHeader("Retry-After"), answer));
      });
      request.addEventListener("error", () => reject(new Refusal(UNREACHABLE)));
      request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
      signal.addEventListener("abort", () => request.abort());
      request.open("POST", `${this.url}/upload`);
      request.send(body);
    });
  }
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
