import { asApiError } from "../../api/errors";

/** Why the server refused. */
export const Refusal = ({ error }: { error: Error | null }) =>
  error && (
    <div className="note bad" role="alert">
      {asApiError(error).message}
    </div>
  );
