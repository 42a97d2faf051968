import { findProvider, isChatModelName } from "../../shared/providers/providers";
import type { Source } from "./choice";

/** The models of a list that chat; all, if the names of none say so. */
export const filterChatModels = (models: string[]): string[] => {
  const chat = models.filter(isChatModelName);
  return chat.length ? chat : models;
};

/** Where the model of this id was chosen. */
export function sourceOfModel(model: string): Source {
  const provider = model.split("/")[0] ?? "";
  if (provider === "local") return "embedded";
  return findProvider(provider)?.isKeyless ? "server" : "provider";
}
