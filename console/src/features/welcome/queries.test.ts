// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { createAgentFromTemplate } from "./queries";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("trains the guide that was made if its training failed, and makes no second one", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] }).setTimerTickMode("nextTimerAsync");
  const asked: string[] = [];
  const statuses = ["failed", "training", "completed"];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    asked.push(`${request.method} ${pathname}${search}`);
    return Response.json(pathname.endsWith("/status") ? { training: { status: statuses.shift() } } : { id: "agt_1" });
  });
  const made = new Map<string, string>();
  const create = () => createAgentFromTemplate(made, "guide", "local/smollm2-135m", () => undefined);
  await expect(create()).rejects.toThrow();
  expect(await create()).toBe("agt_1");
  const training = "POST /api/v1/agents/agt_1/train?duplicates=skip";
  expect(asked.filter((one) => !one.endsWith("/status"))).toEqual(["POST /api/v1/agents", training, training]);
});
