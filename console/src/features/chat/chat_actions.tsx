import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import { meQuery, usePermissionCheck } from "../../api/queries";
import { LaterDeleteConversationDialog, LaterRenameDialog } from "../../shared/conversations/later_dialogs";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import { useOpenChatId } from "./chat_address";
import type { ChatAction, ChatMenuProps } from "./chat_menu";
import { changeChatArchive, changeListedChat } from "./own_chats";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat");
type ActionChat = ChatMenuProps["chat"];

/** Puts chats away and brings them back; the toast takes it back. */
function useChatArchive(): (chat: Pick<ActionChat, "id" | "archived">) => void {
  const client = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: changeChatArchive,
    onSuccess: async (changed) => {
      changeListedChat(client, changed.id, null);
      showToast(
        say(changed.archived ? "archived" : "restored"),
        <Button size="xs" variant="default" onClick={() => mutate({ id: changed.id, archived: !changed.archived })}>
          {say("undo")}
        </Button>,
      );
      await client.invalidateQueries({ queryKey: ["older-chats"] });
      await client.invalidateQueries({ queryKey: ["chat"] });
    },
    onError: (error) => showToast(asApiError(error).message),
  });
  return useCallback(({ id, archived }) => mutate({ id, archived: !archived }), [mutate]);
}

/** Whether this person may change a chat: one of their own. */
export function useMayChangeChat() {
  const may = usePermissionCheck();
  const { data: me } = useQuery(meQuery);
  const mayWrite = may("conversations:write");
  return (chat: Pick<ActionChat, "user_id">) => mayWrite && Boolean(me) && chat.user_id === me?.id;
}

/** What is done with a chat of the list or with the open one, and the dialogs that ask first. */
export function useChatActions() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const archive = useChatArchive();
  const openId = useOpenChatId();
  const open = useRef(openId);
  open.current = openId;
  const [asked, setAsked] = useState<{ action: ChatAction; chat: ActionChat }>();
  const act = useCallback(
    (action: ChatAction, chat: ActionChat) => (action === "archive" ? archive(chat) : setAsked({ action, chat })),
    [archive],
  );
  const closeDialog = () => setAsked(undefined);
  const chat = asked?.chat;
  const leaveDeleted = (id: string) => {
    closeDialog();
    changeListedChat(client, id, null);
    void client.invalidateQueries({ queryKey: ["chat", "own"] });
    if (open.current === id) void navigate({ to: "/chat", replace: true });
  };
  const dialog = (
    <>
      {chat && asked.action === "rename" && (
        <LaterRenameDialog
          conversation={chat}
          onRenamed={(title) => changeListedChat(client, chat.id, { title })}
          onClose={closeDialog}
        />
      )}
      {chat && asked.action === "delete" && (
        <LaterDeleteConversationDialog
          conversation={chat}
          onDeleted={() => leaveDeleted(chat.id)}
          onClose={closeDialog}
        />
      )}
    </>
  );
  return { act, dialog };
}
