import { call, urlOf } from "./client";
import { lost } from "./connection";

export type ServerEvent = { event: string; data: unknown; id: string };

/** Split a body into server-sent events; comments and half lines are left over until they are complete. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const event: ServerEvent = { event: "message", data: undefined, id: "" };
  const lines: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, text = ""] = /^([^:]+):? ?(.*)$/.exec(line) ?? [];
    if (field === "event") event.event = text;
    else if (field === "id") event.id = text;
    else if (field === "data") lines.push(text);
  }
  if (!lines.length) return;
  const text = lines.join("\n");
  try {
    event.data = JSON.parse(text);
  } catch {
    event.data = text;
  }
  return event;
}

/** Ask for a stream and yield its events; a connection that breaks is a server that does not answer. */
export async function* openStream(path: string, init: RequestInit): AsyncGenerator<ServerEvent> {
  const headers = { Accept: "text/event-stream", "Content-Type": "application/json", ...init.headers };
  const response = await call(new Request(urlOf(path), { ...init, headers }));
  if (!response.body) return;
  try {
    yield* readEvents(response.body);
  } catch (error) {
    throw init.signal?.aborted ? error : lost();
  }
}
