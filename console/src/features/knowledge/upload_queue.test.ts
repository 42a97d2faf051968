import { expect, test } from "vitest";
import { ApiError } from "../../api/errors";
import { findUploadProblem, isUploadUnderWay, type Upload, UploadQueue } from "./upload_queue";

const file = (name: string) => new File(["text"], name);
const settled = () => new Promise((done) => setTimeout(done));
type Sent = { name: string; duplicates: string; signal: AbortSignal; progress: (share: number) => void };

/** A server that answers an upload when a test says so. */
class FakeUploads {
  sent: Sent[] = [];
  answers = new Map<string, { arrive: (twin?: Upload["twin"]) => void; refuse: (error: Error) => void }>();
  queue = new UploadQueue({
    send: (given, duplicates, progress, signal) => {
      this.sent.push({ name: given.name, duplicates, signal, progress });
      return new Promise((arrive, refuse) => this.answers.set(given.name, { arrive, refuse }));
    },
  });
  leave = this.queue.subscribe(() => undefined);
  get states() {
    return this.queue.getSnapshot().uploads.map(({ file: { name }, state }) => `${name} ${state}`);
  }
  get first() {
    return this.queue.getSnapshot().uploads[0] as Upload;
  }
}

test("two files are sent at a time, and one that has arrived makes room for the next", async () => {
  const server = new FakeUploads();
  server.queue.add([file("a.md"), file("b.md"), file("c.md")]);
  expect(server.states).toEqual(["a.md sending", "b.md sending", "c.md waiting"]);
  server.sent[0]?.progress(0.5);
  expect(server.first.share).toBe(0.5);
  server.answers.get("a.md")?.arrive();
  await settled();
  expect(server.states).toEqual(["b.md sending", "c.md sending"]);
});

test("a file that cannot be used is not sent", () => {
  const server = new FakeUploads();
  server.queue.add([file("a.exe"), new File([], "b.md")]);
  expect(server.queue.getSnapshot().uploads.map(({ problem }) => problem)).toEqual(["type", "empty"]);
  expect(server.sent).toEqual([]);
});

test("a file that the server refused can be sent again, and makes room meanwhile", async () => {
  const server = new FakeUploads();
  server.queue.add([file("a.md"), file("b.md"), file("c.md")]);
  server.answers.get("a.md")?.refuse(new ApiError(422, "bad_file", "Broken."));
  await settled();
  expect(server.first).toMatchObject({ state: "failed", problem: { message: "Broken." } });
  expect(server.states[2]).toBe("c.md sending");
  server.answers.get("b.md")?.arrive();
  await settled();
  server.queue.retry(server.first.key);
  expect(server.first).toMatchObject({ state: "sending", problem: undefined });
});

test("a file whose content is there already is added only if the person wants it", async () => {
  const server = new FakeUploads();
  server.queue.add([file("a.md")]);
  server.answers.get("a.md")?.arrive({ id: "doc_1", name: "old.md" });
  await settled();
  expect(server.first).toMatchObject({ state: "known", twin: { id: "doc_1" } });
  server.queue.addAnyway(server.first.key);
  expect(server.sent.map(({ duplicates }) => duplicates)).toEqual(["skip", "add"]);
});

test("a file that is dismissed on its way is given up and makes room", async () => {
  const server = new FakeUploads();
  server.queue.add([file("a.md"), file("b.md"), file("c.md")]);
  server.queue.dismiss(server.first.key);
  expect(server.sent[0]?.signal.aborted).toBe(true);
  server.answers.get("a.md")?.refuse(new DOMException("Aborted", "AbortError"));
  await settled();
  expect(server.states).toEqual(["b.md sending", "c.md sending"]);
});

test("a page that is left gives up what is on its way and sends nothing more", async () => {
  const server = new FakeUploads();
  server.queue.add([file("a.md"), file("b.md"), file("c.md")]);
  server.leave();
  for (const { signal } of server.sent) expect(signal.aborted).toBe(true);
  server.answers.get("a.md")?.refuse(new DOMException("Aborted", "AbortError"));
  await settled();
  expect(server.sent).toHaveLength(2);
});

test("a page is left without a question once nothing is on its way", async () => {
  const server = new FakeUploads();
  const isAnyUnderWay = () => server.queue.getSnapshot().uploads.some(isUploadUnderWay);
  server.queue.add([file("a.exe")]);
  expect(isAnyUnderWay()).toBe(false);
  server.queue.add([file("a.md"), file("b.md"), file("c.md")]);
  for (const name of ["a.md", "b.md", "c.md"]) {
    expect(isAnyUnderWay()).toBe(true);
    server.answers.get(name)?.arrive(name === "c.md" ? { id: "doc_1", name } : undefined);
    await settled();
  }
  expect(isAnyUnderWay()).toBe(false);
});

test("says what is wrong with a file before it is sent", () => {
  expect(findUploadProblem({ name: "Guide.PDF", size: 10 })).toBeUndefined();
  expect(findUploadProblem({ name: "photo.jpg", size: 10 })).toBe("type");
  expect(findUploadProblem({ name: "a.txt", size: 0 })).toBe("empty");
  expect(findUploadProblem({ name: "a.txt", size: 26_214_401 })).toBe("size");
});
