import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { createQueryClient } from "./api/queries";
import { readSessionState, subscribeToSession } from "./api/session";
import { newRouter } from "./routes";

const client = createQueryClient();
const router = newRouter(client);

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

let known = readSessionState();

/** Forget what was read when the session ends; after a sign-in over the page, ask again for what was refused. */
function followSession() {
  const [before, now] = [known, readSessionState()];
  known = now;
  // A new token is no new session, and before the first one nothing was read.
  if (before === now || before === "unknown") return;
  if (now === "signed-out") client.clear();
  if (now === "signed-in") void client.invalidateQueries();
  void router.invalidate();
}
subscribeToSession(followSession);

export function App() {
  const state = useSyncExternalStore(subscribeToSession, readSessionState);
  return (
    <QueryClientProvider client={client}>
      {state !== "unknown" && <RouterProvider router={router} />}
    </QueryClientProvider>
  );
}
