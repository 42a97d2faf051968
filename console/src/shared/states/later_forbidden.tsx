import { type ComponentProps, lazy, Suspense } from "react";

/** It names permissions and roles, and asks for access: all of that comes where something was refused. */
const Forbidden = lazy(() => import("./forbidden").then((found) => ({ default: found.ForbiddenState })));

export const LaterForbiddenState = (props: ComponentProps<typeof Forbidden>) => (
  <Suspense fallback={null}>
    <Forbidden {...props} />
  </Suspense>
);
