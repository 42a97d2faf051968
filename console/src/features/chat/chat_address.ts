import { useLocation } from "@tanstack/react-router";
import { type ListAddress, readAnyTextUpTo, readTrueFlag } from "../../shared/list/address";

export type ChatSearch = {
  /** The list of chats alone, which on a phone is a page of its own. */
  list?: boolean;
  /** Who is asked in a new chat. */
  agent?: string;
  /** The source of a reply that is open beside it. */
  source?: string;
};

const readAnyText = readAnyTextUpTo();

export const readChatSearch = (search: ListAddress): ChatSearch => ({
  list: readTrueFlag(search.list),
  agent: readAnyText(search.agent),
  source: readAnyText(search.source),
});

/** The conversation in an address of this page. */
export const readChatIdFromPath = (address: string): string | undefined => /^\/chat\/([^/?#]+)/.exec(address)?.[1];

export const useOpenChatId = () => useLocation({ select: ({ pathname }) => readChatIdFromPath(pathname) });
