import { asApiError } from "../../api/errors";

/** What the server says to a change that it refused. */
export const RefusalNote = ({ error }: { error: unknown }) => (
  <div className="note bad" role="alert">
    {asApiError(error).message}
  </div>
);
