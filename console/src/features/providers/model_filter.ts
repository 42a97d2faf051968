import type { ChatModel } from "../../shared/providers/queries";
import type { ModelFilters } from "./filters";

/** The models that the filters leave, those that can be used first. */
export function filterModels(models: ChatModel[], { search = "", show = "usable" }: ModelFilters): ChatModel[] {
  const wanted = search.trim().toLowerCase();
  return models
    .filter((model) => (show === "all" || model.available) && model.id.toLowerCase().includes(wanted))
    .sort((a, b) => Number(b.available) - Number(a.available) || a.id.localeCompare(b.id));
}
