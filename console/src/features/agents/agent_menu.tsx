import { Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { createTranslator } from "../../shared/i18n/words";
import {
  type Agent,
  agentFileName,
  archiveAgent,
  downloadFile,
  duplicateAgent,
  exportAgent,
  restoreAgent,
  useAgentChange,
} from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");

export function AgentMenu({ agent, onDelete }: { agent: Agent; onDelete: () => void }) {
  const may = usePermissionCheck();
  const navigate = useNavigate();
  const isArchived = agent.status === "archived";
  const copy = useAgentChange(duplicateAgent);
  const move = useAgentChange(isArchived ? restoreAgent : archiveAgent);
  return (
    <ActionsMenu label={say("actions", { name: agent.name })}>
      <Menu.Item onClick={() => void navigate({ to: "/agents/$agentId", params: { agentId: agent.id } })}>
        {say("open")}
      </Menu.Item>
      {may("conversations:read") && (
        <Menu.Item onClick={() => void navigate({ to: "/agents/$agentId/log", params: { agentId: agent.id } })}>
          {say("chatLog")}
        </Menu.Item>
      )}
      <Menu.Item onClick={() => void navigator.clipboard?.writeText(agent.id)}>{say("copyId")}</Menu.Item>
      <Menu.Item
        onClick={() => void exportAgent(agent.id).then((file) => downloadFile(agentFileName(agent.name), file))}
      >
        {say("export")}
      </Menu.Item>
      {may("agents:write") && (
        <Menu.Item
          onClick={() => copy.mutate({ id: agent.id, name: say("copyOf", { name: agent.name }).slice(0, 100) })}
        >
          {say("duplicate")}
        </Menu.Item>
      )}
      {may("agents:write") && (
        <Menu.Item onClick={() => move.mutate(agent.id)}>{say(isArchived ? "restore" : "archive")}</Menu.Item>
      )}
      {may("agents:delete") && (
        <Menu.Item color="red" onClick={onDelete}>
          {say("delete")}
        </Menu.Item>
      )}
    </ActionsMenu>
  );
}
