import type { FormEvent } from "react";

/** Return a form's handler that runs a change; its refusal is shown from the change itself. */
export const createSubmitHandler = (run: () => Promise<unknown>) => (event: FormEvent) => {
  event.preventDefault();
  void run().catch(() => undefined);
};
