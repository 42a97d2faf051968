import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "../api/queries";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function Host({ render }: { render: () => void }) {
  render();
  return null;
}

/** Runs a hook in a page of its own, for tests; `now` is what it returned last. */
export function renderHook<Result>(useTested: () => Result) {
  const rendered = {} as { now: Result; unmount: () => void };
  const root = createRoot(document.createElement("div"));
  const render = () => {
    rendered.now = useTested();
  };
  rendered.unmount = () => act(() => root.unmount());
  act(() =>
    root.render(
      <QueryClientProvider client={createQueryClient()}>
        <Host render={render} />
      </QueryClientProvider>,
    ),
  );
  return rendered;
}
