// Write src/api/schema.d.ts from the OpenAPI document: `npm run types`.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const document = JSON.parse(readFileSync("../docs/reference/openapi.json", "utf8"));
const written = astToString(await openapiTS(document, { defaultNonNullable: false }));
// The descriptions stand in the document; without them the file is a third of its size.
const bare = written.replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, "").replace(/\/\*\*[^*]*\*\/\s*/g, "");
writeFileSync(process.argv[2] ?? "src/api/schema.d.ts", `// Written by \`npm run types\`.\n${bare}`);
