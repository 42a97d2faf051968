import { readEventStream } from "@retinue/events";
import { apiUrlOf, fetchAsUser } from "./client";
import { noteLostRequest } from "./connection";

export type ServerEvent = { event: string; data: unknown; id: string };

/** Yield the server-sent events of a body, with their data as JSON where it is JSON. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  for await (const { event, data, id } of readEventStream(body)) yield { event, data: parseEventData(data), id };
}

function parseEventData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Ask for a stream and yield its events; a connection that breaks is a server that does not answer. */
export async function* openEventStream(path: string, init: RequestInit): AsyncGenerator<ServerEvent> {
  const headers = { Accept: "text/event-stream", "Content-Type": "application/json", ...init.headers };
  const response = await fetchAsUser(new Request(apiUrlOf(path), { ...init, headers }));
  if (!response.body) return;
  try {
    yield* readServerEvents(response.body);
  } catch (error) {
    throw init.signal?.aborted ? error : noteLostRequest();
  }
}
