import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { newQueryClient } from "./api/queries";
import { sessionState, subscribeToSession } from "./api/session";
import { newRouter } from "./routes";

const client = newQueryClient();
const router = newRouter(client);

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

let known = sessionState();

/** Forget what was read when the session ends; after a sign-in over the page, ask again for what was refused. */
function followSession() {
  const [before, now] = [known, sessionState()];
  known = now;
  // A new token is no new session, and before the first one nothing was read.
  if (before === now || before === "unknown") return;
  if (now === "signed-out") client.clear();
  if (now === "signed-in") void client.invalidateQueries();
  void router.invalidate();
}
subscribeToSession(followSession);

export function App() {
  const state = useSyncExternalStore(subscribeToSession, sessionState);
  return (
    <QueryClientProvider client={client}>
      {state !== "unknown" && <RouterProvider router={router} />}
    </QueryClientProvider>
  );
}
