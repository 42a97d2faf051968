import { api, unwrapData } from "../../api/client";
import { ApiError } from "../../api/errors";
import { language } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import type { TemplateName } from "./templates";
import en from "./words.en.json";

const say = createTranslator(en, "features/welcome");
type Progress = "creating" | "reading" | "indexing";
// Indexing the guide takes some seconds, and the server announces its end to nobody: it is asked at growing intervals.
const WAITS_MS = [500, 700, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12_000, 15_000];

async function loadGuideFile(): Promise<File> {
  const { default: text } = language === "de" ? await import("./guide.de.md?raw") : await import("./guide.en.md?raw");
  return new File([text], say("guideFile"), { type: "text/markdown" });
}

async function trainAgent(agentId: string, file: File, onProgress: (step: Progress) => void): Promise<void> {
  const form = new FormData();
  form.append("files", file);
  const params = { path: { agent_id: agentId } };
  onProgress("reading");
  await api.POST("/api/v1/agents/{agent_id}/train", {
    // The second time, a document that could not be indexed is indexed again rather than added beside itself.
    params: { ...params, query: { duplicates: "skip" } },
    body: form as never,
    bodySerializer: () => form,
  });
  onProgress("indexing");
  for (const wait of WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const { training } = await unwrapData(api.GET("/api/v1/agents/{agent_id}/status", { params }));
    if (training.status === "completed") return;
    if (training.status === "failed") throw new ApiError(0, "training_failed", say("guideFailed"));
  }
}

/** Agents by template and model, so that a second attempt trains the agent of the first. */
export type MadeAgents = Map<string, string>;

/** Create an agent through the ordinary API; the guide also reads its document. */
export async function createAgentFromTemplate(
  agents: MadeAgents,
  template: TemplateName,
  model: string,
  onProgress: (step: Progress) => void,
): Promise<string> {
  onProgress("creating");
  const key = `${template} ${model}`;
  const id = agents.get(key) ?? (await createTemplateAgent(template, model));
  agents.set(key, id);
  if (template === "guide") await trainAgent(id, await loadGuideFile(), onProgress);
  return id;
}

async function createTemplateAgent(template: TemplateName, model: string): Promise<string> {
  const body = {
    name: say(`${template}Name`),
    description: say(`${template}About`),
    primary_model: model,
    system_prompt: say(`${template}Prompt`),
    status: "published" as const,
  };
  return (await unwrapData(api.POST("/api/v1/agents", { body }))).id;
}
