// Write packages/client/schema.d.ts from the OpenAPI document if that has changed: `npm run types`.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const WRITTEN = "packages/client/schema.d.ts";
const document = readFileSync("../docs/reference/openapi.json", "utf8");
const tools = readFileSync("package-lock.json", "utf8");
const firstLine = `// Written by \`npm run types\`, from ${createHash("sha256").update(document).update(tools).digest("hex")}.`;

if (!existsSync(WRITTEN) || !readFileSync(WRITTEN, "utf8").startsWith(firstLine)) {
  const types = astToString(await openapiTS(JSON.parse(document), { defaultNonNullable: false }));
  // The descriptions stand in the document; without them the file is a third of its size.
  const bare = types.replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, "").replace(/\/\*\*[^*]*\*\/\s*/g, "");
  writeFileSync(WRITTEN, `${firstLine}\n${bare}`);
}
