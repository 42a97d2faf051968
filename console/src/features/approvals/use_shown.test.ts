// @vitest-environment jsdom
import { act, useState } from "react";
import { expect, it } from "vitest";
import { renderHook } from "../../shared/render_hook";
import { useStillShownCheck } from "./use_shown";

it("knows whether the request is still shown that was decided", () => {
  const page = renderHook(() => {
    const [id, setId] = useState("apr_1");
    return { isStillShown: useStillShownCheck("mine", id), setId };
  });
  const { isStillShown, setId } = page.now;
  expect(isStillShown()).toBe(true);
  act(() => setId("apr_2"));
  expect([isStillShown(), page.now.isStillShown()]).toEqual([false, true]);
  act(() => setId("apr_1"));
  expect(isStillShown()).toBe(true);
  page.unmount();
  expect(isStillShown()).toBe(false);
});
