import Archive from "icon:archive";
import ArchiveRestore from "icon:archive-restore";
import Pencil from "icon:pencil";
import Trash from "icon:trash-2";
import { Kbd, Menu } from "@mantine/core";
import { DownloadItems } from "../../shared/conversations/download_items";
import { createTranslator } from "../../shared/i18n/words";
import type { Chat } from "./own_chats";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat");

export type ChatAction = "rename" | "archive" | "delete";
export type ChatMenuProps = {
  chat: Pick<Chat, "id" | "title" | "archived" | "user_id">;
  /** Whether it may be changed: one of one's own, by somebody who may write. */
  mayChange: boolean;
  onAct: (action: ChatAction, chat: ChatMenuProps["chat"]) => void;
};

/** What can be done with a chat, with the keys that do it for the open one. */
export const ChatMenuItems = ({ chat, mayChange, onAct }: ChatMenuProps) => (
  <>
    {mayChange && (
      <>
        <Menu.Item
          leftSection={<Pencil size={14} />}
          rightSection={<Kbd>F2</Kbd>}
          onClick={() => onAct("rename", chat)}
        >
          {say("rename")}
        </Menu.Item>
        <Menu.Item
          leftSection={chat.archived ? <ArchiveRestore size={14} /> : <Archive size={14} />}
          rightSection={<Kbd>E</Kbd>}
          onClick={() => onAct("archive", chat)}
        >
          {say(chat.archived ? "restore" : "archive")}
        </Menu.Item>
      </>
    )}
    <DownloadItems id={chat.id} />
    {mayChange && (
      <>
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<Trash size={14} />} onClick={() => onAct("delete", chat)}>
          {say("delete")}
        </Menu.Item>
      </>
    )}
  </>
);
