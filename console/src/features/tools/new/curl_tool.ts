import type { Definition } from "../define/definition";
import type { JsonValues } from "../queries";
import type { CurlCommand } from "./curl";

/** A secret that stood in a command, as a credential would hold it. */
export type FoundSecret = {
  authType: Definition["authType"];
  credentialType: "api_key" | "bearer_token" | "basic_auth";
  secrets: Record<string, string>;
  /** What of the way to sign in is no secret, such as the name of the header. */
  settings: JsonValues;
};
type CurlTool = { definition: Partial<Definition>; secret?: FoundSecret };

const SECRET_NAME = /^(x-)?(api[-_]?key|auth[-_]?token|access[-_]?token|token|secret|key|subscription-key)$|api-?key$/i;
const BODY_HEADERS = ["content-type", "content-length", "host", "accept-encoding", "connection"];

function basicSecret(user: string): FoundSecret {
  const [username = "", ...password] = user.split(":");
  return {
    authType: "basic",
    credentialType: "basic_auth",
    secrets: { username, password: password.join(":") },
    settings: {},
  };
}

const keySecret = (name: string, value: string, location: "header" | "query"): FoundSecret => ({
  authType: "api_key",
  credentialType: "api_key",
  secrets: { api_key: value },
  settings: { api_key_header: name, api_key_location: location },
});

/** Percent signs that encode nothing stay as they are. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function decodeBase64(text: string): string | undefined {
  try {
    return atob(text);
  } catch {
    return undefined;
  }
}

/** The secret of a header; undefined for one that may stand in the settings. */
function secretOfHeader(name: string, value: string): FoundSecret | undefined {
  if (name.toLowerCase() !== "authorization")
    return SECRET_NAME.test(name) || name.toLowerCase() === "cookie" ? keySecret(name, value, "header") : undefined;
  const [scheme = "", ...rest] = value.split(/\s+/);
  const content = rest.join(" ");
  if (/^bearer$/i.test(scheme))
    return { authType: "bearer", credentialType: "bearer_token", secrets: { token: content }, settings: {} };
  const user = /^basic$/i.test(scheme) ? decodeBase64(content) : undefined;
  return user === undefined ? keySecret(name, value, "header") : basicSecret(user);
}

/** Values of fields with such a name are left out: they may be secrets. */
const SECRET_FIELD = /secret|passw|token|api[-_]?key/i;

function schemaOfValue(value: unknown): JsonValues {
  if (Array.isArray(value)) return { type: "array", items: value.length ? schemaOfValue(value[0]) : {} };
  if (typeof value === "object" && value !== null) return schemaOfObject(value as JsonValues);
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "number", examples: [value] };
  if (typeof value === "boolean") return { type: "boolean" };
  return value === null ? {} : { type: "string", examples: [value] };
}

const schemaOfObject = (values: JsonValues): JsonValues => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const isSecret = SECRET_FIELD.test(name) && typeof value !== "object";
      return [name, isSecret ? { type: typeof value === "number" ? "number" : "string" } : schemaOfValue(value)];
    }),
  ),
});

/** The fields of a body, and how they are sent; text that is neither JSON nor a form has none. */
function readBody({ body, form }: CurlCommand): { values?: JsonValues; bodyType?: "form" | "multipart" } {
  if (form.length) return { values: Object.fromEntries(form), bodyType: "multipart" };
  if (body === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? { values: parsed as JsonValues }
      : {};
  } catch {
    return body.includes("=") ? { values: Object.fromEntries(new URLSearchParams(body)), bodyType: "form" } : {};
  }
}

function functionNameOf(method: string, path: string): string {
  const words = path.split("/").filter((part) => /^[a-z][\w-]*$/i.test(part));
  const name = [method.toLowerCase(), ...words.slice(-2)].join("_").replace(/[^a-z0-9_]+/gi, "_");
  return name.slice(0, 60);
}

/** The tool that makes the same request: what the command sends becomes its input, a secret is taken out of it. */
export function buildCurlTool(command: CurlCommand): CurlTool | undefined {
  if (!URL.canParse(command.url)) return undefined;
  const url = new URL(command.url);
  const urlUser = url.username ? `${decodeText(url.username)}:${decodeText(url.password)}` : undefined;
  const secrets: FoundSecret[] = [];
  if (command.user ?? urlUser) secrets.push(basicSecret(command.user ?? urlUser ?? ""));
  const headers: Record<string, string> = {};
  for (const [name, value] of command.headers) {
    const secret = secretOfHeader(name, value);
    if (secret) secrets.push(secret);
    else if (!BODY_HEADERS.includes(name.toLowerCase())) headers[name] = value;
  }
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams)
    if (SECRET_NAME.test(name)) secrets.push(keySecret(name, value, "query"));
    else query[name] = value;
  const { values, bodyType } = readBody(command);
  const path = decodeText(url.pathname);
  const endpoint: JsonValues = {
    method: command.method,
    path,
    input_schema: schemaOfObject(values ?? {}),
    ...(Object.keys(query).length ? { default_params: query } : {}),
    ...(Object.keys(headers).length ? { default_headers: headers } : {}),
    ...(bodyType ? { body_type: bodyType } : {}),
  };
  const [secret] = secrets;
  return {
    secret,
    definition: {
      name: url.hostname,
      type: "rest_api",
      config: { base_url: url.origin, endpoints: { [functionNameOf(command.method, path)]: endpoint } },
      authType: secret?.authType ?? "none",
      requiresApproval: command.method !== "GET",
    },
  };
}
