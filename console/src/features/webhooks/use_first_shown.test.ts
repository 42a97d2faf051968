// @vitest-environment jsdom
import { act, useState } from "react";
import { expect, it } from "vitest";
import { renderHook } from "../../shared/render_hook";
import { useFirstShown } from "./use_first_shown";

const rowsOf = (...ids: string[]) => ids.map((id) => ({ id }));

it("keeps what is shown while rows come above it, until the list is another", () => {
  let setInput: (input: Parameters<typeof useFirstShown>[0]) => void = () => undefined;
  const shown = renderHook(() => {
    const [input, set] = useState({ rows: undefined, list: "all", isPlaceholder: false } as Parameters<
      typeof useFirstShown
    >[0]);
    setInput = set;
    return useFirstShown(input);
  });
  const shownFor = (list: string, ids: string[], isPlaceholder = false) => {
    act(() => setInput({ rows: rowsOf(...ids), list, isPlaceholder }));
    return shown.now;
  };
  expect(shown.now).toBeUndefined();
  expect(shownFor("all", ["b", "a"])).toBe("b");
  expect(shownFor("all", ["c", "b", "a"])).toBe("b");
  expect(shownFor("failed", ["c", "b", "a"], true)).toBe("c");
  expect(shownFor("failed", ["a"])).toBe("a");
  expect(shownFor("failed", ["c", "a"])).toBe("a");
});
