import { useMediaQuery } from "@mantine/hooks";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { type UIEvent, useEffect, useMemo, useRef, useState } from "react";
import { type ConversationDetail, conversationQuery } from "../../shared/conversations/conversation_query";
import { usePageCommands } from "../../shared/frame/commands";
import { useRowKeys, useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { FailureState } from "../../shared/states/states";
import { useChatActions, useMayChangeChat } from "./chat_actions";
import { useOpenChatId } from "./chat_address";
import { chatAgentsQuery } from "./chat_agents";
import type { ChatAction } from "./chat_menu";
import { ChatRow } from "./chat_row";
import { findChatDay, findShownRows, groupDrawnRows, layOutChatRows } from "./chat_rows";
import style from "./history.module.css";
import {
  type Chat,
  type ChatSelection,
  findNextPage,
  mergeChatPages,
  newestChatsQuery,
  olderChatsQuery,
} from "./own_chats";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat");
const DAY_WORDS = {
  today: say("today"),
  yesterday: say("yesterday"),
  thisWeek: say("thisWeek"),
  lastWeek: say("lastWeek"),
};
const HEIGHTS = { day: 34, chat: 32 };
const PHONE_HEIGHTS = { day: 34, chat: 44 };
/** How far above its end a list asks for more. */
const AHEAD_PX = 1_200;

/** The chats of a selection: the newest as they are now, older ones as far as somebody has scrolled. */
function useChats(selection: ChatSelection) {
  const newest = useQuery(newestChatsQuery(selection));
  const first = newest.isPlaceholderData ? undefined : newest.data;
  const [wanted, setWanted] = useState<ChatSelection>();
  const until = first && findNextPage(first);
  const older = useInfiniteQuery({
    ...olderChatsQuery(selection, until),
    enabled: wanted === selection && until !== undefined,
  });
  const pages = older.data?.pages;
  const chats = useMemo(
    () => mergeChatPages([newest.data?.data ?? [], ...(until ? (pages ?? []) : []).map((page) => page.data)]),
    [newest.data, pages, until],
  );
  const loadOlder = () => {
    if (!until || older.isFetching) return;
    if (wanted !== selection) setWanted(selection);
    else if (older.hasNextPage) void older.fetchNextPage();
  };
  return { newest, chats, loadOlder, isLoadingOlder: older.isFetching };
}

type Props = { selection: ChatSelection };

/** The chats of a selection by day. Ten thousand of them cost what is in sight. */
export function ChatList({ selection }: Props) {
  const { newest, chats, loadOlder, isLoadingOlder } = useChats(selection);
  if (newest.error && !newest.data) return <FailureState error={newest.error} onRetry={() => void newest.refetch()} />;
  if (!newest.data) return <ChatSkeletons />;
  if (chats.length === 0) return <p className={style.none}>{describeNothing(selection)}</p>;
  return <DrawnChats chats={chats} onEnd={loadOlder} isLoading={isLoadingOlder} />;
}

const describeNothing = ({ view, search }: ChatSelection) =>
  search ? say("noMatch", { text: search }) : say(`none_${view}`);

const ChatSkeletons = () => (
  <div className={`late ${style.days}`} role="status" aria-label={say("loadingChats")}>
    {Array.from({ length: 8 }, (_, i) => (
      <div key={i} className={style.skeleton}>
        <span className="shim" />
        <span className="shim" style={{ inlineSize: `${70 - (i % 4) * 12}%` }} />
      </div>
    ))}
  </div>
);

/** `F2` and `E` act on the chat that has the focus, else on the open one. */
function useChatKeys(
  chats: readonly Chat[],
  openId: string | undefined,
  onAct: (action: ChatAction, chat: ConversationDetail | Chat) => void,
) {
  const client = useQueryClient();
  const actOnChosen = (action: ChatAction) => () => {
    const id = (document.activeElement as HTMLElement | null)?.dataset.row ?? openId;
    const chat = chats.find((one) => one.id === id) ?? client.getQueryData(conversationQuery(id ?? "").queryKey);
    if (chat) onAct(action, chat);
  };
  const commands = [
    { label: say("renameThis"), keys: "f2", run: actOnChosen("rename") },
    { label: say("archiveThis"), keys: "e", run: actOnChosen("archive") },
  ];
  useShortcutKeys(Object.fromEntries(commands.map(({ keys, run }) => [keys, run])));
  usePageCommands(openId ? commands : []);
}

type DrawnProps = { chats: Chat[]; onEnd: () => void; isLoading: boolean };

function DrawnChats({ chats, onEnd, isLoading }: DrawnProps) {
  const list = useRef<HTMLElement>(null);
  const isPhone = useMediaQuery("(max-width: 700px)", undefined, { getInitialValueInEffect: false });
  const openId = useOpenChatId();
  const { data: agents } = useQuery(chatAgentsQuery);
  const names = useMemo(() => new Map(agents?.map(({ id, name }) => [id, name])), [agents]);
  const mayChange = useMayChangeChat();
  const { act, dialog } = useChatActions();
  const { rows, height } = useMemo(() => {
    const now = new Date();
    return layOutChatRows(chats, isPhone ? PHONE_HEIGHTS : HEIGHTS, (at) => findChatDay(at, now, DAY_WORDS));
  }, [chats, isPhone]);
  // A window is at least as high as the list in it.
  const [sight, setSight] = useState({ top: 0, height: window.innerHeight });
  const { from, to } = findShownRows(rows, sight.top, sight.height);
  const shown = rows.slice(from, to);
  const above = shown[0]?.top ?? 0;
  const below = height - (rows[to]?.top ?? height);
  useRowKeys(list);
  useChatKeys(chats, openId, (action, chat) => mayChange(chat) && act(action, chat));
  const isEndNear = height - sight.top - sight.height < AHEAD_PX;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each page that has come, not for each new function
  useEffect(() => {
    if (isEndNear) onEnd();
  }, [isEndNear, chats.length]);
  const handleScroll = ({ currentTarget }: UIEvent<HTMLElement>) => {
    const next = { top: currentTarget.scrollTop, height: currentTarget.clientHeight };
    const range = findShownRows(rows, next.top, next.height);
    if (range.from !== from || range.to !== to) setSight(next);
  };
  return (
    <>
      <nav
        ref={list}
        className={style.days}
        aria-label={say("yourChats")}
        aria-busy={isLoading || undefined}
        onScroll={handleScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
      >
        <div style={{ paddingBlock: `${above}px ${below}px` }}>
          {groupDrawnRows(shown).map(({ key, label, chats: drawn }) => (
            <section key={key}>
              {label && <h2 className={style.day}>{label}</h2>}
              <ul>
                {drawn.map((chat) => (
                  <ChatRow
                    key={chat.id}
                    chat={chat}
                    agentName={names.get(chat.agent_id)}
                    isOpen={chat.id === openId}
                    mayChange={mayChange(chat)}
                    onAct={act}
                  />
                ))}
              </ul>
            </section>
          ))}
        </div>
      </nav>
      {dialog}
    </>
  );
}
