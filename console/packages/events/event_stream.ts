/** One server-sent event, as the HTML standard describes it. */
export type StreamEvent = {
  /** The type of the event: `message` if the stream names none. */
  event: string;
  data: string;
  /** The last id that the stream has named; empty before the first one. */
  id: string;
};

const LINE_END = /\r\n|\n|\r/g;
const BYTE_ORDER_MARK = "\uFEFF";

/** Parses server-sent events from pieces of text that may break anywhere, also inside a CRLF. */
export class EventStreamParser {
  /** The delay before the next connection that the stream asks for. */
  retryMs: number | undefined;
  private rest = "";
  private isStarted = false;
  private type = "";
  private id = "";
  private data: string[] = [];

  /** Return the events that are complete with this piece. */
  push(piece: string): StreamEvent[] {
    let text = this.rest + piece;
    if (!this.isStarted && text) {
      this.isStarted = true;
      if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
    }
    const events: StreamEvent[] = [];
    let start = 0;
    for (const end of text.matchAll(LINE_END)) {
      // A CR at the very end may be the first half of a CRLF.
      if (end[0] === "\r" && end.index === text.length - 1) break;
      this.readLine(text.slice(start, end.index), events);
      start = end.index + end[0].length;
    }
    this.rest = text.slice(start);
    return events;
  }

  /** Return the event that the end of the stream completes: a last CR is a whole line end then. */
  end(): StreamEvent[] {
    const isLineEnd = this.rest.endsWith("\r");
    return isLineEnd ? this.push("\n") : [];
  }

  private readLine(line: string, events: StreamEvent[]) {
    if (line === "") {
      if (this.data.length) events.push({ event: this.type || "message", data: this.data.join("\n"), id: this.id });
      this.type = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.type = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}

/** Yield the events of a response's body; the body is cancelled when the caller stops. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  // The parser removes the byte order mark, so that there is one place for it.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parser = new EventStreamParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* parser.push(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      if (!done) continue;
      yield* parser.end();
      return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
