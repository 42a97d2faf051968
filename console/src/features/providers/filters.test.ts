import { expect, it } from "vitest";
import type { ChatModel } from "../../shared/providers/queries";
import { readModelFilters } from "./filters";
import { filterModels } from "./model_filter";

const model = (id: string, available: boolean) => ({ id, available }) as ChatModel;
const MODELS = [model("openai/gpt-5", false), model("ollama/llama3.2", true), model("local/smollm2", true)];

it("shows what can be used, in order", () =>
  expect(filterModels(MODELS, {}).map(({ id }) => id)).toEqual(["local/smollm2", "ollama/llama3.2"]));
it("shows all, usable ones first", () => expect(filterModels(MODELS, { show: "all" }).at(-1)?.id).toBe("openai/gpt-5"));
it("finds by a part of the id", () => expect(filterModels(MODELS, { search: "LLAMA" })).toHaveLength(1));
it("reads only what it knows from the address", () =>
  expect(readModelFilters({ show: "some", search: 7, add: true })).toEqual({ add: true }));
