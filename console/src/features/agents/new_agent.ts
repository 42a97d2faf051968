import type { importAgent, Template } from "./queries";

type AgentFile = Parameters<typeof importAgent>[0];
// What the server gives an agent that says nothing about them.
const DEFAULT_TEMPERATURE = 0.7;
const DEFAULT_TOKENS = 2048;

/** What a new agent is made from: the typed fields, and the rest from its template if there is one. */
export function createAgentFile(name: string, model: string, prompt: string, template?: Template): AgentFile {
  const { description = "", temperature = null, web_search: searches = false } = template ?? {};
  const agent = { name, description, temperature, primary_model: model, system_prompt: prompt };
  if (template) return { format: "retinue.agent/1", agent, web_search: { enabled: searches } };
  return {
    format: "retinue.agent/1",
    agent: { ...agent, temperature: DEFAULT_TEMPERATURE, max_tokens: DEFAULT_TOKENS },
  };
}
