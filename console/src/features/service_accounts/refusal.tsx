import { asApiError } from "../../api/errors";

/** Why the server refused; of a wrong field, what is wrong with it. */
export function Refusal({ error }: { error: Error | null }) {
  if (!error) return null;
  const { code, details, message } = asApiError(error);
  const problem =
    code === "validation_error" ? Object.values(details).find((one) => typeof one === "string") : undefined;
  return (
    <div className="note bad" role="alert">
      {problem ? `${message} ${problem}` : message}
    </div>
  );
}
