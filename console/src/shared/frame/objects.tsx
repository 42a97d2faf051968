import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { permissionsQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { AgentMark } from "../marks/agent_mark";
import { Avatar } from "../marks/avatar";
import { KindIcon, type KindName } from "../marks/kind_icon";
import { isChatOnly } from "./navigation";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");
const SEARCH_WAIT_MS = 200;
const MAX_FOUND = 12;

type Found = { type: string; id: string; name: string; description: string | null; parent_id: string | null };
type TypeName = "agent" | "tool" | "workflow" | "form" | "data_table" | "webhook" | "incoming_webhook";
type Word = TypeName | "credential" | "conversation" | "document" | "service_account" | "user";

const KINDS: Record<string, KindName> = {
  tool: "tool",
  workflow: "flow",
  form: "form",
  document: "know",
  webhook: "hook",
  incoming_webhook: "hook",
  conversation: "turn",
  service_account: "sub",
};
/** Where an object is shown. The page says so itself if this server's console has none for it. */
const PLACES: Record<string, (found: Found) => string> = {
  agent: ({ id }) => `/agents/${id}`,
  conversation: ({ id }) => `/conversations/${id}`,
  tool: ({ id }) => `/tools/${id}`,
  workflow: ({ id }) => `/workflows/${id}`,
  form: ({ id }) => `/forms/${id}`,
  data_table: ({ id }) => `/tables/${id}`,
  webhook: ({ id }) => `/webhooks/${id}`,
  incoming_webhook: ({ id }) => `/webhooks/incoming/${id}`,
  credential: ({ id }) => `/credentials/${id}`,
  document: ({ parent_id }) => `/agents/${parent_id ?? ""}`,
  service_account: () => "/settings/service-accounts",
  user: ({ id }) => `/settings/people?person=${id}`,
};
/** People who only chat read a conversation where they go on with it. */
const CHAT_ONLY_PLACES: typeof PLACES = { ...PLACES, conversation: ({ id }) => `/chat/${id}` };

function ObjectPicture({ found }: { found: Found }) {
  if (found.type === "agent") return <AgentMark id={found.id} size={22} />;
  if (found.type === "user") return <Avatar name={found.name} />;
  return <KindIcon kind={KINDS[found.type] ?? "turn"} small />;
}

/** Objects by name or id, as the server finds them, for the palette. `knows` tells whether there is a page. */
export function useFoundObjects(text: string, goTo: (to: string) => () => void, hasPage: (to: string) => boolean) {
  const [waited] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const { data: found } = useQuery({
    queryKey: ["search", waited],
    queryFn: ({ signal }) =>
      unwrapData(
        api.GET("/api/v1/search", { params: { query: { q: waited.slice(0, 100), limit: MAX_FOUND } }, signal }),
      ),
    placeholderData: keepPreviousData,
    enabled: waited.length > 0,
  });
  const { data: role } = useQuery(permissionsQuery);
  const places = role && isChatOnly(role.permissions) ? CHAT_ONLY_PLACES : PLACES;
  if (!text.trim()) return [];
  return ((found?.data ?? []) as Found[]).flatMap((one) => {
    const to = places[one.type]?.(one);
    if (!to || !hasPage(to)) return [];
    return {
      id: one.id,
      label: one.name,
      description: [say(`type_${one.type as Word}`), one.description].filter(Boolean).join(" · "),
      leftSection: <ObjectPicture found={one} />,
      onClick: goTo(to),
    };
  });
}
