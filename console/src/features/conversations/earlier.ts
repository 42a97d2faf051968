import { useInfiniteQuery } from "@tanstack/react-query";
import { startTransition, useMemo, useState } from "react";
import { type Turn, turnsFromMessages } from "../../shared/chat/chat";
import type { Message } from "../../shared/trace/queries";
import { earlierMessagesQuery } from "./queries";

export type Earlier = {
  messages: Message[];
  turns: Turn[];
  /** How many messages, and how many turns, come before the first one shown. */
  hiddenMessages: number;
  hiddenTurns: number;
  isLoading: boolean;
  error: Error | null;
  load: () => void;
};

/** The messages of a conversation: the last hundred, and the earlier ones as far as they were asked for. */
export function useEarlierMessages(id: string, last?: { data: Message[]; pagination: { total: number } }): Earlier {
  const [isWanted, setWanted] = useState("");
  const total = last?.pagination.total ?? 0;
  const query = useInfiniteQuery({ ...earlierMessagesQuery(id, total), enabled: isWanted === id && total > 0 });
  const pages = isWanted === id ? query.data?.pages : undefined;
  const messages = useMemo(() => {
    const shown = last?.data ?? [];
    const known = new Set(shown.map((one) => one.id));
    const before = (pages ?? []).toReversed().flat();
    return [...before.filter((one) => !known.has(one.id)), ...shown];
  }, [pages, last]);
  const turns = useMemo(() => turnsFromMessages(messages), [messages]);
  const hiddenMessages = Math.max(0, total - messages.length);
  return {
    messages,
    turns,
    hiddenMessages,
    // A question and its reply are two messages.
    hiddenTurns: Math.ceil(hiddenMessages / 2),
    isLoading: query.isFetching,
    error: query.error,
    load: () => {
      if (isWanted !== id) startTransition(() => setWanted(id));
      else if (query.error) void query.refetch();
      else if (query.hasNextPage) void query.fetchNextPage();
    },
  };
}
