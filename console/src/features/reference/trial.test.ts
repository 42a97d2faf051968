import { beforeEach, expect, it, vi } from "vitest";

const exchange = vi.fn<(request: Request) => Promise<Response>>();
vi.mock("../../api/client", () => ({
  apiUrlOf: (path: string) => `https://retinue.test${path}`,
  exchangeAsUser: (request: Request) => exchange(request),
}));
const { ApiTrial } = await import("./trial");

const PLAN = { method: "POST", path: "/things", headers: { "If-Match": '"1"' }, json: '{"a":1}' };
beforeEach(() => {
  exchange.mockReset();
});

it("sends what was planned and shows a refusal as an answer", async () => {
  exchange.mockResolvedValue(Response.json({ error: { code: "forbidden" } }, { status: 403 }));
  const trial = new ApiTrial();
  await trial.send(PLAN);
  const { answer, error, isRunning } = trial.getSnapshot();
  expect([answer?.status, error, isRunning]).toEqual([403, undefined, false]);
  expect(answer?.text).toContain("forbidden");
  const sent = exchange.mock.calls[0]?.[0];
  expect(sent?.headers.get("If-Match")).toBe('"1"');
  expect(await sent?.text()).toBe('{"a":1}');
});

it("tells how long a file is instead of showing it", async () => {
  exchange.mockResolvedValue(new Response(new Uint8Array(12), { headers: { "Content-Type": "application/zip" } }));
  const trial = new ApiTrial();
  await trial.send({ method: "GET", path: "/file", headers: {} });
  expect(trial.getSnapshot().answer).toMatchObject({ bytes: 12, text: "" });
});

it("shows the beginning of an answer without end and stops reading", async () => {
  const chunk = new TextEncoder().encode("x".repeat(50_000));
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
  exchange.mockResolvedValue(new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
  const trial = new ApiTrial();
  await trial.send({ method: "GET", path: "/stream", headers: {} });
  expect(trial.getSnapshot().answer).toMatchObject({ isWhole: false });
  expect(trial.getSnapshot().answer?.text).toHaveLength(200_000);
});

it("is quiet about a request that somebody stopped", async () => {
  exchange.mockImplementation(
    (request) =>
      new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason))),
  );
  const trial = new ApiTrial();
  const sending = trial.send({ method: "GET", path: "/slow", headers: {} });
  trial.stop();
  await sending;
  expect(trial.getSnapshot()).toMatchObject({ isRunning: false, error: undefined, answer: undefined });
});
