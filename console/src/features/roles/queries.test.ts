// @vitest-environment jsdom
import { act } from "react";
import { expect, it, vi } from "vitest";
import { renderHook } from "../../shared/render_hook";
import { useRoleSaving } from "./queries";

it("applies a change to what the role holds now, and says so even if the dialog is gone", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "GET") return Response.json({ role: "viewer", permissions: ["agents:read", "events:read"] });
    const body = await request.clone().json();
    sent.push(body);
    return Response.json({ role: "viewer", permissions: body.permissions, message: "Done." });
  });
  const onSaved = vi.fn();
  const saving = renderHook(() => useRoleSaving(onSaved));
  await act(async () =>
    saving.now.mutate({ changes: [{ role: "viewer", gained: ["agents:chat"], lost: ["agents:read"] }] }),
  );
  saving.unmount();
  await vi.waitFor(() => expect(onSaved).toHaveBeenCalled());
  expect(sent).toEqual([{ permissions: ["events:read", "agents:chat"] }]);
});
