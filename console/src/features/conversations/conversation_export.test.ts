import { expect, it } from "vitest";
import { ConversationExport } from "./conversation_export";

const answerOf = (...pieces: string[]) => ({
  body: new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  }),
});

it("saves what came, in one file, and counts its lines", async () => {
  const saved: Blob[] = [];
  const counts = new Set<number>();
  const download = new ConversationExport((file) => void saved.push(file));
  download.subscribe(() => counts.add(download.getSnapshot().count));
  await download.start(async () => answerOf('{"a":1}\n{"b"', ':2}\n{"c":3}\n'));
  expect(await saved[0]?.text()).toBe('{"a":1}\n{"b":2}\n{"c":3}\n');
  expect([...counts]).toEqual([0, 1, 3]);
  expect(download.getSnapshot()).toEqual({ isRunning: false, count: 3, error: undefined });
});

it("saves nothing of an answer that breaks off, and says why", async () => {
  const saved: Blob[] = [];
  const download = new ConversationExport((file) => void saved.push(file));
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new Error("connection lost")),
  });
  await download.start(async () => ({ body: broken }));
  expect(saved).toEqual([]);
  expect(download.getSnapshot()).toMatchObject({ isRunning: false, error: new Error("connection lost") });
});

it("stops when it is told to, without an error", async () => {
  const saved: Blob[] = [];
  const download = new ConversationExport((file) => void saved.push(file));
  const running = download.start(async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw new DOMException("aborted", "AbortError");
  });
  expect(download.getSnapshot().isRunning).toBe(true);
  download.stop();
  await running;
  expect(saved).toEqual([]);
  expect(download.getSnapshot()).toEqual({ isRunning: false, count: 0, error: undefined });
});

it("runs once at a time", async () => {
  const download = new ConversationExport(() => undefined);
  let asked = 0;
  const read = async () => {
    asked += 1;
    return answerOf("{}\n");
  };
  await Promise.all([download.start(read), download.start(read)]);
  expect(asked).toBe(1);
});
