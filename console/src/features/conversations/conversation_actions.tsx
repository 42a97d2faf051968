import Download from "icon:download";
import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { meQuery, usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { useConversationChange } from "../../shared/conversations/changes";
import type { ConversationDetail } from "../../shared/conversations/conversation_query";
import { DownloadItems } from "../../shared/conversations/download_items";
import { LaterDeleteConversationDialog, LaterRenameDialog } from "../../shared/conversations/later_dialogs";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import { closeConversation } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");
type Props = { conversation: ConversationDetail };

/** Whether this person may change the conversation: their own, or any if they build agents. */
export function useMayChange({ user_id: userId }: ConversationDetail): boolean {
  const may = usePermissionCheck();
  const { data: me } = useQuery(meQuery);
  return may("conversations:write") && (may("agents:write") || (Boolean(me) && me?.id === userId));
}

export function ConversationActions({ conversation }: Props) {
  const may = usePermissionCheck();
  return (
    <>
      {may("agents:write") && may("agents:chat") && (
        <Button
          variant="default"
          className="wide"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/agents/$agentId"
              params={{ agentId: conversation.agent_id }}
              search={{ from: conversation.id }}
            />
          )}
        >
          {say("goOn")}
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <Button variant="default" leftSection={<Download size={14} />}>
            {say("export")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <DownloadItems id={conversation.id} />
        </Menu.Dropdown>
      </Menu>
      <ConversationMenu conversation={conversation} />
    </>
  );
}

function ConversationMenu({ conversation }: Props) {
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const mayChange = useMayChange(conversation);
  const [dialog, setDialog] = useState<"rename" | "delete">();
  const close = useConversationChange(closeConversation);
  const hideDialog = () => setDialog(undefined);
  const { id, agent_id: agentId, status } = conversation;
  if (!mayChange && !may("agents:read")) return null;
  return (
    <>
      <ActionsMenu label={say("actions")}>
        {may("agents:read") && (
          <Menu.Item onClick={() => void navigate({ to: "/agents/$agentId/log", params: { agentId } })}>
            {say("agentLog")}
          </Menu.Item>
        )}
        {mayChange && <Menu.Item onClick={() => setDialog("rename")}>{say("renameMenu")}</Menu.Item>}
        {mayChange && status === "active" && (
          <Menu.Item onClick={() => close.mutate(id, { onError: (error) => showToast(asApiError(error).message) })}>
            {say("close")}
          </Menu.Item>
        )}
        {mayChange && (
          <Menu.Item color="red" onClick={() => setDialog("delete")}>
            {say("deleteMenu")}
          </Menu.Item>
        )}
      </ActionsMenu>
      {dialog === "rename" && <LaterRenameDialog conversation={conversation} onClose={hideDialog} />}
      {dialog === "delete" && (
        <LaterDeleteConversationDialog
          conversation={conversation}
          onDeleted={() => void navigate({ to: "/conversations", replace: true })}
          onClose={hideDialog}
        />
      )}
    </>
  );
}
