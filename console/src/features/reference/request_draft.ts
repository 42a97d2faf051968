import type { ApiOperation, ApiParameter, Reference } from "./document";
import { requiredExample } from "./schema_text";

/** What was entered for one request; texts as they stand in the fields. */
export type RequestDraft = { values: Record<string, string>; body: string; files: Record<string, File[]> };
/** An operation with what was entered for it. */
export type CallProps = {
  reference: Reference;
  operation: ApiOperation;
  draft: RequestDraft;
  onChange: (draft: RequestDraft) => void;
};
/** A request as it goes out, without the session. */
export type PlannedRequest = {
  method: string;
  /** With the query, below the address of the server. */
  path: string;
  headers: Record<string, string>;
  json?: string;
  parts?: Record<string, string | File[]>;
};

/** Headers that the console sets itself or that only matter between programs. */
const HIDDEN_HEADERS = new Set(["X-Tenant-ID", "Prefer", "If-None-Match"]);
const JSON_TYPE = "application/json";
const FORM_TYPE = "multipart/form-data";

export const listEditableParameters = ({ parameters }: ApiOperation): ApiParameter[] =>
  parameters.filter((one) => one.in !== "header" || !HIDDEN_HEADERS.has(one.name));

export const isFormOperation = ({ body }: ApiOperation) => Boolean(body?.content[FORM_TYPE]);

/** What the fields hold at first: nothing but a body with what it requires. */
export function startRequestDraft({ document }: Reference, { body }: ApiOperation): RequestDraft {
  const media = body?.content[JSON_TYPE];
  const value = media && (media.example ?? requiredExample({ document }, media.schema ?? {}));
  return { values: {}, body: value === undefined ? "" : JSON.stringify(value, null, 2), files: {} };
}

/** The names of path parameters that are still empty. */
export const listMissingParameters = (operation: ApiOperation, { values }: RequestDraft): string[] =>
  operation.parameters.filter((one) => one.required && !values[one.name]?.trim()).map((one) => one.name);

/** Put a draft together. What is missing in the path stays as `{agent_id}`, so that snippets show where it goes. */
export function planRequest(operation: ApiOperation, draft: RequestDraft): PlannedRequest {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place } of listEditableParameters(operation)) {
    const value = draft.values[name]?.trim();
    if (!value) continue;
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === "query") query.append(name, value);
    else headers[name] = value;
  }
  const search = query.toString();
  const plan: PlannedRequest = { method: operation.method, path: search ? `${path}?${search}` : path, headers };
  if (isFormOperation(operation)) {
    const names = Object.keys(operation.body?.content[FORM_TYPE]?.schema?.properties ?? {});
    const texts = names.flatMap((name) => (draft.values[`body.${name}`] ? [[name, draft.values[`body.${name}`]]] : []));
    return { ...plan, parts: { ...(Object.fromEntries(texts) as Record<string, string>), ...draft.files } };
  }
  return operation.body && draft.body.trim() ? { ...plan, json: draft.body } : plan;
}

/** Whether an operation changes something on the server. */
export const isChangingOperation = ({ method }: Pick<ApiOperation, "method">) => !["GET", "HEAD"].includes(method);
