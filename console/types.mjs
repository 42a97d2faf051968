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

// The console's form of a tool is drawn from the schemas of its settings.
const schemas = JSON.parse(document).components.schemas;
const resolve = (schema) => (schema.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema);
const kinds = Object.entries(schemas.ToolCreate.properties.config["x-config-schemas"]).map(([kind, reference]) => {
  const { properties, required = [], examples = [] } = resolve(reference);
  return [kind, { properties, required, example: examples[0] }];
});
const CONFIG_SCHEMAS = "src/features/tools/define/config_schemas.json";
writeFileSync(CONFIG_SCHEMAS, `${JSON.stringify(Object.fromEntries(kinds), null, 2)}\n`);
