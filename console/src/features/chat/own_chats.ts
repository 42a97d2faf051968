import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import { conversationPath } from "../../shared/conversations/changes";

export type Chat = components["schemas"]["ConversationListed"];
type ChatPage = { data: Chat[]; pagination: components["schemas"]["Pagination"] };

/** Own chats, those that colleagues share by name, and own ones that were put away. */
export const CHAT_VIEWS = ["own", "shared", "archive"] as const;
export type ChatView = (typeof CHAT_VIEWS)[number];
export type ChatSelection = { userId: string; view: ChatView; search: string };

const PER_PAGE = 100;
const REFETCH_MS = 30_000;
/** What was talked about on this page. Trials in the playground and runs of workflows stand elsewhere. */
const CHANNELS = "console,audio";

const loadChats = ({ userId, view, search }: ChatSelection, until?: string): Promise<ChatPage> =>
  unwrapData(
    api.GET("/api/v1/conversations", {
      params: {
        query: {
          // With `agents:write` the list holds everyone's chats.
          ...(view === "shared"
            ? { shared_with: "me" as const }
            : { user_id: userId, channels: CHANNELS, archived: view === "archive" }),
          ...(search ? { search } : {}),
          ...(until ? { to: until } : {}),
          per_page: PER_PAGE,
          include: "waiting",
        },
      },
    }),
  );

/** The newest chats, as they are now. */
export const newestChatsQuery = (selection: ChatSelection) =>
  queryOptions({
    queryKey: ["chat", "own", selection],
    queryFn: () => loadChats(selection),
    refetchInterval: REFETCH_MS,
    placeholderData: keepPreviousData,
    enabled: Boolean(selection.userId),
  });

/**
 * Chats before the newest ones, from where a page ends to where the next one begins. They are read once: an old chat
 * that goes on stands among the newest.
 */
export const olderChatsQuery = (selection: ChatSelection, until: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["older-chats", selection],
    queryFn: ({ pageParam }) => loadChats(selection, pageParam),
    initialPageParam: until,
    getNextPageParam: findNextPage,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** When the last chat of a full page was written in last; the next page begins there. */
export function findNextPage({ data }: ChatPage, _pages?: unknown, until?: string): string | undefined {
  const last = data.length < PER_PAGE ? undefined : data.at(-1)?.last_message_at;
  // A page of one moment leads nowhere.
  return last === until ? undefined : last;
}

/** All chats that are known, each once, the newest first. Pages overlap, and a chat that goes on is in two of them. */
export function mergeChatPages(pages: readonly Chat[][]): Chat[] {
  const known = new Map<string, Chat>();
  for (const chat of pages.flat()) if (!known.has(chat.id)) known.set(chat.id, chat);
  return [...known.values()];
}

/** Change a chat in the lists that this page holds; null takes it out of them. */
export function changeListedChat(client: QueryClient, id: string, change: Partial<Chat> | null) {
  const applyChange = (page: ChatPage): ChatPage => ({
    ...page,
    data: page.data.flatMap((chat) => (chat.id !== id ? chat : change ? { ...chat, ...change } : [])),
  });
  client.setQueriesData<ChatPage>({ queryKey: ["chat", "own"] }, (page) => page && applyChange(page));
  client.setQueriesData<InfiniteData<ChatPage>>(
    { queryKey: ["older-chats"] },
    (older) => older && { ...older, pages: older.pages.map(applyChange) },
  );
}

export const changeChatArchive = ({ id, archived }: { id: string; archived: boolean }) =>
  unwrapData(api.PATCH("/api/v1/conversations/{conversation_id}", { ...conversationPath(id), body: { archived } }));
