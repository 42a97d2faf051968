import { expect, it, vi } from "vitest";
import { createNameReader } from "./name_reader";

const newReader = () => {
  const asked = vi.fn(async (ids: string[]) =>
    ids.filter((id) => id !== "gone").map((id) => ({ id, name: `N ${id}` })),
  );
  return { asked, readName: createNameReader(asked) };
};

it("asks once for all ids that are wanted at the same time, each once", async () => {
  const { asked, readName } = newReader();
  expect(await Promise.all(["a", "b", "a", "gone"].map(readName))).toEqual(["N a", "N b", "N a", null]);
  expect(asked.mock.calls).toEqual([[["a", "b", "gone"]]]);
});

it("asks again for what is wanted later", async () => {
  const { asked, readName } = newReader();
  await readName("a");
  expect(await readName("b")).toBe("N b");
  expect(asked).toHaveBeenCalledTimes(2);
});

it("asks for a hundred at a time", async () => {
  const { asked, readName } = newReader();
  await Promise.all(Array.from({ length: 101 }, (_, i) => readName(`u${i}`)));
  expect(asked.mock.calls.map(([ids]) => ids.length)).toEqual([100, 1]);
});

it("fails for everybody who asked together, and not for the next", async () => {
  const asked = vi.fn(async () => [{ id: "a", name: "A" }]).mockRejectedValueOnce(new Error("gone"));
  const readName = createNameReader(asked);
  await expect(readName("a")).rejects.toThrow("gone");
  expect(await readName("a")).toBe("A");
});
