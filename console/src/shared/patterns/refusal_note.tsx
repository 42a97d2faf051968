import type { ReactNode } from "react";
import { asApiError } from "../../api/errors";

/** A problem in words, read aloud as soon as it is there; nothing where there is none. */
export const ProblemNote = ({ children }: { children: ReactNode }) =>
  Boolean(children) && (
    <div className="note bad" role="alert">
      {children}
    </div>
  );

/** The reason that the server gives for a change that it refused. */
export const RefusalNote = ({ error }: { error: unknown }) => (
  <ProblemNote>{error ? asApiError(error).message : ""}</ProblemNote>
);
