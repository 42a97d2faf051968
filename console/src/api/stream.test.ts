// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { readServerEvents } from "./stream";

function body(...chunks: (string | Uint8Array)[]) {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    start(control) {
      for (const chunk of chunks) control.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      control.close();
    },
  });
}

async function all(...chunks: (string | Uint8Array)[]) {
  const events = [];
  for await (const event of readServerEvents(body(...chunks))) events.push(event);
  return events;
}

describe("readEvents", () => {
  it("joins events that arrive in pieces, also inside a character", async () => {
    const bytes = new TextEncoder().encode('id: 2\nevent: content_delta\ndata: {"delta":"ü"}\n\n');
    const cut = bytes.indexOf(0xc3) + 1;
    const events = await all("id: 1\nevent: message_st", "art\ndata: {}\n\n", bytes.slice(0, cut), bytes.slice(cut));
    expect(events).toEqual([
      { id: "1", event: "message_start", data: {} },
      { id: "2", event: "content_delta", data: { delta: "ü" } },
    ]);
  });

  it("skips comments and takes any line ends and several data lines", async () => {
    expect(await all(": ping\n\n", "data: a\r\ndata: b\r\n\r\n")).toEqual([{ id: "", event: "message", data: "a\nb" }]);
  });

  it("drops an event that was cut off", async () => {
    expect(await all("event: x\ndata: {")).toEqual([]);
  });
});
