// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";

const answer = (status: number, body: object) => new Response(JSON.stringify(body), { status });
const granted = (token: string, seconds = 900) => answer(200, { access_token: token, expires_in: seconds });

async function fresh() {
  vi.resetModules();
  return import("./session");
}

describe("the session", () => {
  beforeEach(() => {
    localStorage.clear();
    vi.restoreAllMocks();
  });

  it("asks nothing on a browser without a session", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    const session = await fresh();
    await session.resumeSession();
    expect(session.readSessionState()).toBe("signed-out");
    expect(fetched).not.toHaveBeenCalled();
  });

  it("keeps the token in memory only", async () => {
    vi.spyOn(globalThis, "fetch").mockResolvedValue(granted("secret-token"));
    const session = await fresh();
    await session.signIn("a@b.example", "x", true);
    expect(await session.findAccessToken()).toBe("secret-token");
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain("secret-token");
  });

  it("refreshes once for many callers at the same time", async () => {
    localStorage.setItem("retinue.signed-in", "1");
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async () => granted("one"));
    const session = await fresh();
    await Promise.all([session.refreshAccessToken(), session.refreshAccessToken(), session.refreshAccessToken()]);
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("tries a refused refresh once more, since another tab may have replaced the cookie", async () => {
    localStorage.setItem("retinue.signed-in", "1");
    const answers = [answer(401, { error: {} }), granted("second")];
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => answers.shift() ?? granted("never"));
    const session = await fresh();
    await session.resumeSession();
    expect(session.readSessionState()).toBe("signed-in");
    expect(await session.findAccessToken()).toBe("second");
  });

  it("calls a lost session expired, not signed out, so that the page stays", async () => {
    const answers = [granted("one", 1)];
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => answers.shift() ?? answer(401, { error: {} }));
    const session = await fresh();
    await session.signIn("a@b.example", "x", false);
    expect(await session.refreshAccessToken()).toBe(false);
    expect(session.readSessionState()).toBe("expired");
  });
});
