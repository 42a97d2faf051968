import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { words } from "../i18n/words";
import { AgentMark } from "../marks/agent_mark";
import { Avatar } from "../marks/avatar";
import { KindIcon, type KindName } from "../marks/kind_icon";
import en from "./words.en.json";

const say = words(en, "shared/frame");
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
  incoming_webhook: ({ id }) => `/incoming/${id}`,
  credential: ({ id }) => `/credentials/${id}`,
  document: ({ parent_id }) => `/agents/${parent_id ?? ""}`,
  service_account: () => "/service-accounts",
  user: () => "/people",
};

function Picture({ of }: { of: Found }) {
  if (of.type === "agent") return <AgentMark id={of.id} size={22} />;
  if (of.type === "user") return <Avatar name={of.name} />;
  return <KindIcon of={KINDS[of.type] ?? "turn"} small />;
}

/** Objects by name or id, as the server finds them, for the palette. `knows` tells whether there is a page. */
export function useObjects(text: string, go: (to: string) => () => void, knows: (to: string) => boolean) {
  const [waited] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const { data: found } = useQuery({
    queryKey: ["search", waited],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/search", { params: { query: { q: waited.slice(0, 100), limit: MAX_FOUND } }, signal })),
    placeholderData: keepPreviousData,
    enabled: waited.length > 0,
  });
  if (!text.trim()) return [];
  return ((found?.data ?? []) as Found[]).flatMap((one) => {
    const to = PLACES[one.type]?.(one);
    if (!to || !knows(to)) return [];
    return {
      id: one.id,
      label: one.name,
      description: [say(`type_${one.type as Word}`), one.description].filter(Boolean).join(" · "),
      leftSection: <Picture of={one} />,
      onClick: go(to),
    };
  });
}
