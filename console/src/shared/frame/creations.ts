import { createTranslator } from "../i18n/words";
import { listConsolePlaces } from "./places";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

type Creation = {
  word:
    | "connectModel"
    | "invite"
    | "newAgent"
    | "newChannel"
    | "newChat"
    | "newCredential"
    | "newServiceAccount"
    | "newTable"
    | "newTool"
    | "newWebhook";
  to: string;
  search?: Record<string, boolean>;
  hash?: string;
  needs: string;
};

/** What can be created in a place of the navigation; the navigation gives the order. */
const CREATIONS: Record<string, Creation> = {
  "/chat": { word: "newChat", to: "/chat", needs: "agents:chat" },
  "/agents": { word: "newAgent", to: "/agents", search: { create: true }, needs: "agents:write" },
  "/tables": { word: "newTable", to: "/tables", search: { create: true }, needs: "data_tables:write" },
  "/tools": { word: "newTool", to: "/tools/new", needs: "tools:write" },
  "/webhooks": { word: "newWebhook", to: "/webhooks", search: { create: true }, needs: "webhooks:write" },
  "/channels": { word: "newChannel", to: "/channels/new", needs: "notification_channels:write" },
  "/credentials": { word: "newCredential", to: "/credentials/new", needs: "credentials:write" },
  "/settings/people": { word: "invite", to: "/", hash: "invite", needs: "admin:users" },
  "/settings/models": { word: "connectModel", to: "/settings/models", search: { add: true }, needs: "api_keys:write" },
  "/settings/service-accounts": {
    word: "newServiceAccount",
    to: "/settings/service-accounts",
    search: { create: true },
    needs: "service_accounts:write",
  },
};

export type Creatable = Pick<Creation, "to" | "search" | "hash"> & { label: string; keywords?: string };

/** What somebody with these permissions may create, in the order of the navigation. */
export const listCreatables = (permissions: readonly string[], hasPage: (to: string) => boolean): Creatable[] =>
  listConsolePlaces(permissions).flatMap((place) => {
    const found = CREATIONS[place.to];
    if (!found || !permissions.includes(found.needs) || !hasPage(found.to)) return [];
    const { word, to, search, hash } = found;
    return [{ to, search, hash, label: say(word), keywords: word === "invite" ? say("inviteAlso") : undefined }];
  });
