import { type Definition, newToolOf } from "../define/definition";
import type { JsonValues, OpenApiPreview, ToolCreate } from "../queries";
import type { OfferedFunction } from "./choose_functions";

const FEW = 5;

/** Few functions, and none that writes: more are a decision. A document with few operations is taken whole. */
export function chooseFirstFunctions(offered: OfferedFunction[]): string[] {
  const reading = offered.filter(({ writes }) => !writes);
  return (offered.length <= FEW ? offered : reading).slice(0, FEW).map(({ name }) => name);
}

export const readImportedDefinition = (preview: OpenApiPreview): Definition => ({
  name: preview.name,
  description: preview.description,
  category: preview.category,
  type: preview.tool_type,
  config: preview.config,
  authType: preview.auth_type,
  authConfig: Object.keys(preview.auth_config).length ? preview.auth_config : undefined,
  inputSchema: preview.input_schema,
  requiresApproval: false,
  approval: null,
});

/** The tool with the chosen operations only. Those that write ask first. */
export function newImportedTool(
  entered: Definition,
  preview: OpenApiPreview,
  offered: OfferedFunction[],
  chosen: string[],
): ToolCreate {
  const writing = offered.filter(({ writes }) => writes).map(({ name }) => name);
  const endpoints = Object.entries(preview.config.endpoints as Record<string, JsonValues>)
    .filter(([name]) => chosen.includes(name))
    .map(([name, endpoint]): [string, JsonValues] => [
      name,
      writing.includes(name) ? { ...endpoint, requires_approval: true } : endpoint,
    ]);
  const isOnlyOne = endpoints.length === 1;
  return newToolOf({
    ...entered,
    config: { ...preview.config, endpoints: Object.fromEntries(endpoints) },
    inputSchema: isOnlyOne ? endpoints[0]?.[1].input_schema : ENDPOINT_SCHEMA,
  });
}

/** What an input of a tool with several endpoints has in common. */
const ENDPOINT_SCHEMA = { type: "object", properties: { endpoint: { type: "string" } }, required: ["endpoint"] };
