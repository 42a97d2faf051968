import { queryOptions } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";
import type { components } from "../../api/schema";
import type { Content } from "./view";

export type Message = components["schemas"]["MessageOut"];
export const MAX_MESSAGES = 100;

export const traceQuery = (id: string) =>
  queryOptions({
    queryKey: ["traces", id],
    queryFn: () => unwrapData(api.GET("/api/v1/traces/{trace_id}", { params: { path: { trace_id: id } } })),
  });
export const loadMessages = (id: string, page: number, leaf?: string) =>
  unwrapData(
    api.GET("/api/v1/conversations/{conversation_id}/messages", {
      params: { path: { conversation_id: id }, query: { per_page: MAX_MESSAGES, page, ...(leaf ? { leaf } : {}) } },
    }),
  );
/** The last hundred messages of the path that ends at `leaf`, or of the newest one. */
export const messagesQuery = (id: string, leaf?: string) =>
  queryOptions({
    queryKey: ["chat", id, "messages", ...(leaf ? [leaf] : [])],
    queryFn: async () => {
      // They come oldest first: of a long conversation, the last two pages hold what is shown.
      const first = await loadMessages(id, 1, leaf);
      const pages = Math.ceil(first.pagination.total / MAX_MESSAGES);
      if (pages < 2) return first;
      const [before, last] = await Promise.all([
        pages > 2 ? loadMessages(id, pages - 1, leaf) : first,
        loadMessages(id, pages, leaf),
      ]);
      return { ...last, data: [...before.data, ...last.data].slice(-MAX_MESSAGES) };
    },
  });

/** What a step read and wrote, from the messages of its conversation: spans themselves hold no text. */
export function spanContentReader(messages: Message[] = []) {
  return (span: { message_id: string | null; execution_id: string | null }): Content => {
    if (span.execution_id) {
      for (const message of messages)
        for (const call of message.details?.tool_calls ?? [])
          if (call.execution_id === span.execution_id) return { input: call.input, output: call.output };
    }
    const at = messages.findIndex((message) => message.id === span.message_id);
    const reply = messages[at];
    if (!reply) return {};
    const question = messages.slice(0, at).findLast((message) => message.role === "user");
    return { input: question?.content, output: reply.content };
  };
}
