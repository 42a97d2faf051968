import type { components } from "../../api/schema";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/providers");

export type ProviderName = components["schemas"]["ProviderName"];

/** Names of companies are not translated. The order is the one in which people look for them. */
export const PROVIDERS: { id: ProviderName; name: string; needsUrl?: boolean; isKeyless?: boolean }[] = [
  { id: "openai", name: "OpenAI" },
  { id: "anthropic", name: "Anthropic" },
  { id: "google", name: "Google Gemini" },
  { id: "mistral", name: "Mistral" },
  { id: "groq", name: "Groq" },
  { id: "openrouter", name: "OpenRouter" },
  { id: "azure_openai", name: "Azure OpenAI", needsUrl: true },
  { id: "bedrock", name: "Amazon Bedrock", needsUrl: true },
  { id: "ollama", name: "Ollama", isKeyless: true },
  { id: "openai_compatible", name: say("openaiCompatible"), needsUrl: true, isKeyless: true },
];

export const providerNameOf = (id: string) => PROVIDERS.find((one) => one.id === id)?.name ?? id;
export const findProvider = (id: string) => PROVIDERS.find((one) => one.id === id);

// The longer beginning first: all of OpenAI's keys and some of others' begin with `sk-`.
const SHAPES: [RegExp, ProviderName][] = [
  [/^sk-ant-/, "anthropic"],
  [/^sk-or-/, "openrouter"],
  [/^gsk_/, "groq"],
  [/^AIza/, "google"],
  [/^sk-/, "openai"],
];

/** The provider that makes keys of this shape, if only one does. */
export const guessProvider = (key: string): ProviderName | undefined =>
  SHAPES.find(([shape]) => shape.test(key.trim()))?.[1];

/** Whether a name is that of a model for conversations; servers list their other models too. */
export const isChatModelName = (name: string) =>
  !/embed|bge-|minilm|whisper|tts|rerank|moderation|dall-e|image/i.test(name);
