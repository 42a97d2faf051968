// @vitest-environment jsdom
import { act } from "react";
import { expect, it, vi } from "vitest";
import { renderHook } from "../../shared/render_hook";
import type { OutgoingWebhook } from "./queries";
import { useSecretRotation } from "./use_secret_rotation";

it("hands on the new secret even if the dialog is gone before the server answers", async () => {
  let answer: (response: Response) => void = () => undefined;
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (answer = resolve)));
  const onMade = vi.fn();
  const webhook = { id: "whk_1", url: "https://hook.example/in", description: null } as OutgoingWebhook;
  const rotation = renderHook(() => useSecretRotation(webhook, onMade));
  await act(async () => rotation.now.mutate(60));
  rotation.unmount();
  answer(Response.json({ secret: "whsec_new", previous_secret_expires_at: "2026-11-20T00:00:00Z" }));
  await vi.waitFor(() =>
    expect(onMade).toHaveBeenCalledWith({
      secret: "whsec_new",
      webhook: { id: "whk_1", name: "hook.example" },
      until: "2026-11-20T00:00:00Z",
    }),
  );
});
