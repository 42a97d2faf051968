import Ellipsis from "icon:ellipsis";
import Hourglass from "icon:hourglass";
import LinkIcon from "icon:link-2";
import { ActionIcon, Menu } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { memo, useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { AgentMark } from "../../shared/marks/agent_mark";
import { ChatMenuItems, type ChatMenuProps } from "./chat_menu";
import style from "./history.module.css";
import type { Chat } from "./own_chats";
import en from "./words.en.json";
import { useIsWriting } from "./writing_chats";
import { WritingDots } from "./writing_dots";

const say = createTranslator(en, "features/chat");

/** What a chat does now, as a mark with its words. */
function ChatMark({ chat }: { chat: Chat }) {
  if (useIsWriting(chat.id))
    return (
      <>
        <WritingDots />
        <span className="sr">{say("writes")}</span>
      </>
    );
  if (chat.waiting)
    return (
      <span className={style.waits} title={say("waits")}>
        <Hourglass size={12} />
        <span className="sr">{say("waits")}</span>
      </span>
    );
  if (!chat.shared) return null;
  return (
    <span className={style.shared} title={say("isShared")}>
      <LinkIcon size={13} />
      <span className="sr">{say("isShared")}</span>
    </span>
  );
}

/** The menu of a row is made when it is first opened: a list draws dozens of rows. */
function RowMenu({ title, ...menu }: ChatMenuProps & { title: string }) {
  const [isOpen, setOpen] = useState(false);
  const [isMade, setMade] = useState(false);
  const openMenu = () => {
    setMade(true);
    setOpen(true);
  };
  const button = (
    <ActionIcon
      size={24}
      className={style.rowMenu}
      aria-label={say("moreFor", { title })}
      aria-haspopup="menu"
      onClick={openMenu}
    >
      <Ellipsis size={14} />
    </ActionIcon>
  );
  if (!isMade) return button;
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" width={220} withInitialFocusPlaceholder={false}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <ChatMenuItems {...menu} />
      </Menu.Dropdown>
    </Menu>
  );
}

type Props = { chat: Chat; agentName?: string; isOpen: boolean } & Omit<ChatMenuProps, "chat">;

/** One chat of the list: whom it is with, its title, what it does now, and what can be done with it. */
export const ChatRow = memo(function ChatRow({ chat, agentName, isOpen, ...menu }: Props) {
  const title = chat.title || say("untitled");
  return (
    <li className={style.row} data-on={isOpen || undefined}>
      <Link
        to="/chat/$conversationId"
        params={{ conversationId: chat.id }}
        aria-current={isOpen ? "page" : undefined}
        preload={false}
        data-row={chat.id}
      >
        <AgentMark id={chat.agent_id} size={18} />
        <span className="cut grow">{title}</span>
        {agentName && <span className="sr">{say("with", { name: agentName })}</span>}
        <ChatMark chat={chat} />
      </Link>
      <RowMenu chat={chat} title={title} {...menu} />
    </li>
  );
});
