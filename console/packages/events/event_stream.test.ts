import { describe, expect, it } from "vitest";
import { EventStreamParser, readEventStream } from "./event_stream";

function parse(pieces: string[]) {
  const parser = new EventStreamParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

const STREAM =
  'event: a\nid: 1\ndata: {"x":1}\n\n: ping\n\ndata: one\ndata: two\n\nid\nretry: 250\nevent: b\ndata:three\n\nevent: none\n\n';
const EVENTS = [
  { event: "a", data: '{"x":1}', id: "1" },
  { event: "message", data: "one\ntwo", id: "1" },
  { event: "b", data: "three", id: "" },
];

describe("a stream of events", () => {
  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("reads the same wherever it breaks, with %s at the end of lines", (_, lineEnd) => {
    const text = `${STREAM.replaceAll("\n", lineEnd)}data: unfinished`;
    expect(parse([text])).toEqual(EVENTS);
    expect(parse([...text])).toEqual(EVENTS);
    for (let at = 0; at <= text.length; at += 1) {
      expect(parse([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(EVENTS);
      expect(parse([text.slice(0, at), "", text.slice(at, at + 7), text.slice(at + 7)])).toEqual(EVENTS);
    }
  });

  it.each([
    ["mixed line ends", "data: a\r\ndata: b\rdata: c\n\r\n", ["a\nb\nc"]],
    ["a last CR", "data: a\r\r", ["a"]],
    ["a last LF CR", "data: a\n\r", ["a"]],
    ["a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
    ["a second byte order mark, which is a part of a name", "data: a\n\n\uFEFFdata: b\n\n", ["a"]],
    ["fields without a value", "data\n\ndata\ndata\n\n", ["", "\n"]],
    ["one space after the colon, and no more", "data:  a\n\ndata:b\n\n", [" a", "b"]],
    ["unknown fields, and names in another case", "Data: a\nother: b\ndata: c\n\n", ["c"]],
    ["data with colons", "data: a: b\n\n", ["a: b"]],
    ["an event that was cut off", "data: a\n\ndata: b\n", ["a"]],
  ])("takes %s", (_, text, expected) => {
    expect(parse([text]).map(({ data }) => data)).toEqual(expected);
  });

  it("keeps the last id for the events after it, and ignores one with a NUL", () => {
    const ids = parse(["id: 7\ndata: a\n\ndata: b\n\nid: 8\0\ndata: c\n\nid:\ndata: d\n\n"]).map(({ id }) => id);
    expect(ids).toEqual(["7", "7", "7", ""]);
  });

  it("tells the delay that a stream asks for, in digits alone", () => {
    const parser = new EventStreamParser();
    parser.push("retry: 1500\nretry: 2s\n\n");
    expect(parser.retryMs).toBe(1500);
  });
});

describe("the body of a response", () => {
  const bodyOf = (...chunks: Uint8Array[]) =>
    new ReadableStream<Uint8Array>({
      start(control) {
        for (const chunk of chunks) control.enqueue(chunk);
        control.close();
      },
    });

  it("is decoded across pieces, also inside a character and a byte order mark", async () => {
    const bytes = new TextEncoder().encode("\uFEFFdata: ü\r\rdata: €\r\n\r\n");
    for (let at = 0; at <= bytes.length; at += 1) {
      const found = [];
      for await (const { data } of readEventStream(bodyOf(bytes.slice(0, at), bytes.slice(at)))) found.push(data);
      expect(found, `cut at ${at}`).toEqual(["ü", "€"]);
    }
  });

  it("is cancelled by a reader that stops", async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (control) => control.enqueue(new TextEncoder().encode("data: a\n\n")),
      cancel: () => {
        isCancelled = true;
      },
    });
    for await (const { data } of readEventStream(body)) {
      expect(data).toBe("a");
      break;
    }
    expect(isCancelled).toBe(true);
  });
});
