import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useRef, useState } from "react";
import { ApiError } from "../../api/errors";
import { meQuery, permissionsQuery } from "../../api/queries";
import { type ConversationDetail, conversationQuery } from "../../shared/conversations/conversation_query";
import { isChatOnly, WIDE_NAVIGATION } from "../../shared/frame/navigation";
import { createTranslator } from "../../shared/i18n/words";
import { FailureState } from "../../shared/states/states";
import style from "./chat.module.css";
import { useOpenChatId } from "./chat_address";
import { type ChatAgent, chatAgentsQuery } from "./chat_agents";
import { ChatHead, NewChatHead } from "./chat_head";
import { AgentCards, ChatGreeting, ChatStarters } from "./chat_start";
import { useNewChatTitle } from "./chat_title";
import { ChatHistory } from "./history";
import { newestChatsQuery } from "./own_chats";
import { ChatThread } from "./thread/thread";
import en from "./words.en.json";

/** Few organizations have no agent. */
const NoAgentState = lazy(() => import("./no_agent").then((found) => ({ default: found.NoAgentState })));
const say = createTranslator(en, "features/chat");

/** Ask, read, go on: own chats, and the open one or a new one beside them. */
export default function ChatPage() {
  const { list, source } = useSearch({ from: "/frame/chat" });
  const { data: role } = useQuery(permissionsQuery);
  const isWide = useMediaQuery(WIDE_NAVIGATION, undefined, { getInitialValueInEffect: false });
  if (!role) return null;
  if (!role.permissions.includes("agents:chat"))
    return (
      <FailureState error={new ApiError(403, "forbidden", "", { required: "agents:chat", your_role: role.role })} />
    );
  // For people who only chat, a wide navigation is the list.
  const isListElsewhere = isWide && isChatOnly(role.permissions);
  return (
    <div
      className={style.chat}
      data-only={isListElsewhere || undefined}
      data-list={list}
      data-source={Boolean(source) || undefined}
    >
      {!isListElsewhere && <ChatHistory />}
      <OpenChat />
    </div>
  );
}

/** What tells threads apart: a chat that is begun here keeps its own when it gets an address. */
function useThreadKey(openId: string | undefined, begunId: string | undefined): string {
  const [thread, setThread] = useState({ key: openId ?? "new", id: openId, count: 0 });
  if (thread.id === openId) return thread.key;
  const count = thread.count + 1;
  const isBegun = thread.id === undefined && openId === begunId;
  const now = { key: isBegun ? thread.key : (openId ?? `new ${count}`), id: openId, count };
  setThread(now);
  return now.key;
}

/** An agent that answers no more; its chats can still be read. */
const createGoneAgent = (id: string): ChatAgent => ({
  id,
  name: say("goneAgent"),
  description: "",
  starters: [],
  takes: { files: [], voice: false },
});

type StartedChat = { agents: ChatAgent[]; chat?: ConversationDetail; openId?: string; begunId?: string };

/** Reads what the open chat needs; the thread stays where it is while a chat that was begun is read. */
function OpenChat() {
  const openId = useOpenChatId();
  const [begunId, setBegunId] = useState<string>();
  useNewChatTitle(begunId);
  const agents = useQuery(chatAgentsQuery);
  const chat = useQuery({ ...conversationQuery(openId ?? ""), enabled: Boolean(openId) });
  const isListRead = useLastAgent().isRead;
  const isRead = agents.data && isListRead && (!openId || chat.data || openId === begunId);
  const failed = [agents, ...(openId ? [chat] : [])].find((one) => one.error && !one.data);
  if (agents.data && isRead && !failed)
    return <ReadChat agents={agents.data} chat={chat.data} openId={openId} begunId={begunId} onBegin={setBegunId} />;
  return (
    <section className={style.main} aria-label={say("title")} aria-busy={!failed}>
      <NewChatHead />
      {failed ? <FailureState error={failed.error} onRetry={() => void failed.refetch()} /> : <ThreadSkeleton />}
    </section>
  );
}

const ThreadSkeleton = () => (
  <div className={`late ${style.skeleton}`} role="status" aria-label={say("loadingChat")}>
    <span className="shim" style={{ inlineSize: "46%", alignSelf: "end" }} />
    <span className="shim" />
    <span className="shim" />
    <span className="shim" style={{ inlineSize: "62%" }} />
  </div>
);

function ReadChat({ agents, chat, openId, begunId, onBegin }: StartedChat & { onBegin: (id: string) => void }) {
  const navigate = useNavigate();
  const key = useThreadKey(openId, begunId);
  const { openAgent, agent } = useChosenAgent(agents, chat);
  const [draft, setDraft] = useState<{ key: string; text: string }>();
  const isNew = !openId;
  if (!agent)
    return (
      <section className={style.main} aria-label={say("newChat")}>
        <NewChatHead />
        <Suspense fallback={null}>
          <NoAgentState />
        </Suspense>
      </section>
    );
  const beginConversation = (id: string) => {
    if (id === openId) return;
    onBegin(id);
    void navigate({ to: "/chat/$conversationId", params: { conversationId: id }, replace: true });
  };
  const question = draft?.key === key ? draft.text : undefined;
  return (
    <section className={style.main} aria-label={chat?.title || say("newChat")}>
      {chat ? <ChatHead chat={chat} agentName={agent.name} /> : <NewChatHead />}
      {openAgent?.isGone && <p className={`note ${style.gone}`}>{say("gone")}</p>}
      <div className={style.body} data-new={isNew || undefined}>
        {isNew && <ChatGreeting />}
        {isNew && (
          <AgentCards
            agents={agents}
            chosen={agent.id}
            onChoose={(id) => void navigate({ to: "/chat", search: { agent: id }, replace: true })}
          />
        )}
        <ChatThread
          key={[key, key === openId ? "" : agent.id, question].join(" ")}
          agent={agent}
          conversationId={openId}
          onConversation={beginConversation}
          draft={question}
        />
        {isNew && <ChatStarters agent={agent} onAsk={(text) => setDraft({ key, text })} />}
      </div>
    </section>
  );
}

/** Whom the open chat is with; for a new one, whom the address names, else who was asked last. */
function useChosenAgent(agents: ChatAgent[], chat?: ConversationDetail) {
  const { agent: asked } = useSearch({ from: "/frame/chat" });
  const { agentId: last } = useLastAgent();
  const findAgent = (id: string | undefined) => agents.find((one) => one.id === id);
  // A list that changes does not take the agent from somebody who writes.
  const first = useRef(findAgent(last)?.id ?? agents[0]?.id);
  const found = chat && findAgent(chat.agent_id);
  const openAgent = chat && (found ? { ...found, isGone: false } : { ...createGoneAgent(chat.agent_id), isGone: true });
  // Nor does the address of a chat that was just begun, which names no agent.
  first.current = found?.id ?? findAgent(asked)?.id ?? first.current;
  const agent: ChatAgent | undefined = openAgent ?? findAgent(asked) ?? findAgent(first.current) ?? agents[0];
  return { openAgent, agent };
}

/** Who was asked last is whom one probably asks next. */
function useLastAgent() {
  const { data: me } = useQuery(meQuery);
  const { data: newest, error } = useQuery(newestChatsQuery({ userId: me?.id ?? "", view: "own", search: "" }));
  return { agentId: newest?.data[0]?.agent_id, isRead: Boolean(newest ?? error) };
}
