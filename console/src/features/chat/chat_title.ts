import { type QueryClient, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import { conversationPath } from "../../shared/conversations/changes";
import { conversationQuery } from "../../shared/conversations/conversation_query";
import { changeListedChat } from "./own_chats";

const POLL_MS = 1_500;
/** A reply may take minutes, a title some seconds. */
const MAX_REPLY_POLLS = 200;
const MAX_TITLE_POLLS = 40;

const loadTitled = (id: string) => unwrapData(api.GET("/api/v1/conversations/{conversation_id}", conversationPath(id)));
const waitToPoll = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, POLL_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** Poll a conversation until a condition holds; undefined if it does not in time. */
async function pollConversation(
  id: string,
  isDone: (now: Awaited<ReturnType<typeof loadTitled>>) => boolean,
  polls: number,
  signal: AbortSignal,
) {
  for (let poll = 0; poll < polls; poll++) {
    await waitToPoll(signal);
    const now = await loadTitled(id);
    if (isDone(now)) return now;
  }
}

/** Have the agent's model write a title once the first reply of a new chat is there; it then stands in the lists. */
async function makeTitle(id: string, client: QueryClient, signal: AbortSignal): Promise<string> {
  const replied = await pollConversation(id, (now) => now.message_count > 1, MAX_REPLY_POLLS, signal);
  if (!replied) return "";
  changeListedChat(client, id, replied);
  await unwrapData(api.POST("/api/v1/conversations/{conversation_id}/title", conversationPath(id)));
  const titled = await pollConversation(id, ({ title }) => title !== replied.title, MAX_TITLE_POLLS, signal);
  if (!titled) return "";
  client.setQueryData(conversationQuery(id).queryKey, titled);
  changeListedChat(client, id, { title: titled.title });
  return titled.title;
}

/** Give a chat a title that was begun on this page. */
export function useNewChatTitle(id: string | undefined) {
  const client = useQueryClient();
  useQuery(
    queryOptions({
      queryKey: ["new-chat-title", id],
      queryFn: ({ signal }) => makeTitle(id ?? "", client, signal),
      enabled: Boolean(id),
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    }),
  );
}
