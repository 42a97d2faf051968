import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect, useSyncExternalStore } from "react";
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

export function App() {
  const state = useSyncExternalStore(subscribeToSession, sessionState);
  useEffect(() => {
    if (state === "signed-out") client.clear();
    // After a sign-in over the page, what was refused is asked for again.
    if (state === "signed-in") void client.invalidateQueries();
    void router.invalidate();
  }, [state]);
  return (
    <QueryClientProvider client={client}>
      {state !== "unknown" && <RouterProvider router={router} />}
    </QueryClientProvider>
  );
}
