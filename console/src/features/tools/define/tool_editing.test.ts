// @vitest-environment jsdom
import { act } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { renderHook } from "../../../shared/render_hook";
import type { Tool } from "../queries";
import { useToolEditing } from "./tool_editing";

afterEach(() => vi.unstubAllGlobals());

const TOOL = { id: "tool_1", name: "Stock", description: "Old", config: {}, approval: null } as unknown as Tool;

it("keeps what is typed while a save is under way", async () => {
  const sent: unknown[] = [];
  let answerSave = () => {};
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(await request.json());
    await new Promise<void>((answer) => {
      answerSave = answer;
    });
    return Response.json({ data: { ...TOOL, name: "Store" } });
  });
  const editing = renderHook(() => useToolEditing(TOOL));
  act(() => editing.now.change({ name: "Store" }));
  await act(async () => editing.now.saveChanges());
  await vi.waitFor(() => expect(sent).toEqual([{ name: "Store" }]));
  act(() => editing.now.change({ description: "New" }));
  await act(async () => answerSave());
  await vi.waitFor(() => expect(editing.now.save.isSuccess).toBe(true));
  // The hook still has the tool of before, so a name that was kept would count as a change.
  expect(editing.now.entered).toMatchObject({ name: "Stock", description: "New" });
  expect(editing.now.hasChanges).toBe(true);
});
