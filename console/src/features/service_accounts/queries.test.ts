// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { createAccountWithSecret } from "./queries";

afterEach(() => vi.unstubAllGlobals());

it("goes on with the account that was made if its secret was refused", async () => {
  const asked: string[] = [];
  let areSecretsRefused = true;
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname } = new URL(request.url);
    asked.push(`${request.method} ${pathname}`);
    if (!pathname.endsWith("/secrets")) return Response.json({ id: "sa_1" });
    if (areSecretsRefused) return Response.json({ error: { code: "internal", message: "Broken." } }, { status: 500 });
    return Response.json({ client_id: "sa_1", client_secret: "shown-once" });
  });
  const made = {};
  const entered = { description: "", permissions: ["agents:read"], allowed_ips: [] };
  const create = (name: string) => createAccountWithSecret(made, { ...entered, name });
  await expect(create("Robot")).rejects.toThrow("Broken.");
  areSecretsRefused = false;
  expect(await create("Robot two")).toMatchObject({ client_secret: "shown-once" });
  const accounts = "/api/v1/service-accounts";
  expect(asked).toEqual([
    `POST ${accounts}`,
    `POST ${accounts}/sa_1/secrets`,
    `PATCH ${accounts}/sa_1`,
    `POST ${accounts}/sa_1/secrets`,
  ]);
});
