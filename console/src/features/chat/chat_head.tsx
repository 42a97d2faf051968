import ChevronLeft from "icon:chevron-left";
import LockKeyhole from "icon:lock-keyhole";
import PanelLeft from "icon:panel-left";
import SquarePen from "icon:square-pen";
import Users from "icon:users-round";
import { Tooltip } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ActionsMenu } from "../../shared/actions_menu";
import type { ConversationDetail } from "../../shared/conversations/conversation_query";
import { usePageTitle } from "../../shared/frame/page_title";
import { createTranslator } from "../../shared/i18n/words";
import style from "./chat.module.css";
import { useChatActions, useMayChangeChat } from "./chat_actions";
import { ChatMenuItems } from "./chat_menu";
import { ThreadShareButton } from "./thread/share_button";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat");

const ToList = ({ icon: Icon }: { icon: typeof ChevronLeft }) => (
  <Link className={style.toList} to="/chat" search={{ list: true }} aria-label={say("yourChats")}>
    <Icon size={20} />
  </Link>
);

/** Above a chat that is not begun, where the list is not beside it. */
export function NewChatHead() {
  usePageTitle(say("newChat"));
  return (
    <header className={`${style.head} ${style.headOfNew}`}>
      <ToList icon={PanelLeft} />
      <b className="t-sec grow">{say("newChat")}</b>
    </header>
  );
}

type Props = { chat: ConversationDetail; agentName?: string };

/** What the chat is called, with whom it is, who reads it, and what can be done with it. */
export function ChatHead({ chat, agentName }: Props) {
  const { act, dialog } = useChatActions();
  const mayChange = useMayChangeChat()(chat);
  const title = chat.title || say("untitled");
  usePageTitle(title);
  return (
    <header className={style.head}>
      <ToList icon={ChevronLeft} />
      <div className={style.titles}>
        <h1 className="t-sec cut">{title}</h1>
        <span className={`t-12 t-3 cut ${style.with}`}>{agentName}</span>
      </div>
      {mayChange &&
        (chat.shared ? (
          <span className={`pill run ${style.wide}`}>
            <Users size={12} />
            {say("isShared")}
          </span>
        ) : (
          <Tooltip label={say("onlyYou")}>
            <span className={`t-12 t-3 row g4 fix ${style.wide}`}>
              <LockKeyhole size={12} />
              {say("private")}
            </span>
          </Tooltip>
        ))}
      {mayChange && <ThreadShareButton conversationId={chat.id} />}
      <Link className={style.newOnPhone} to="/chat" aria-label={say("newChat")}>
        <SquarePen size={18} />
      </Link>
      <ActionsMenu label={say("more")}>
        <ChatMenuItems chat={chat} mayChange={mayChange} onAct={act} />
      </ActionsMenu>
      {dialog}
    </header>
  );
}
