import { expect, it } from "vitest";
import { sourceOfModel } from "./model_source";

it.each([
  ["local/smollm2-135m", "embedded"],
  ["openai/gpt-4o", "provider"],
  ["ollama/llama3.2", "server"],
])("knows where %s was chosen", (model, source) => expect(sourceOfModel(model)).toBe(source));
