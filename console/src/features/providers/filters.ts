import type { ChatModel } from "../../shared/providers/queries";

export const SHOWN = ["usable", "all"] as const;
export type ModelFilters = { search?: string; show?: (typeof SHOWN)[number]; add?: boolean };

export function readModelFilters(search: Record<string, unknown>): ModelFilters {
  const show = SHOWN.find((one) => one === search.show);
  return {
    ...(typeof search.search === "string" && search.search ? { search: search.search.slice(0, 200) } : {}),
    ...(show ? { show } : {}),
    ...(search.add === true ? { add: true } : {}),
  };
}

/** The models that the filters leave, those that can be used first. */
export function filterModels(models: ChatModel[], { search = "", show = "usable" }: ModelFilters): ChatModel[] {
  const wanted = search.trim().toLowerCase();
  return models
    .filter((model) => (show === "all" || model.available) && model.id.toLowerCase().includes(wanted))
    .sort((a, b) => Number(b.available) - Number(a.available) || a.id.localeCompare(b.id));
}
