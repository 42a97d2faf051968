import Ellipsis from "icon:ellipsis";
import { ActionIcon, Button, Menu, Modal, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { useMay } from "../../api/queries";
import { words } from "../../shared/i18n/words";
import { Status, type Tone } from "../../shared/parts";
import {
  type Agent,
  archiveAgent,
  createAgent,
  deleteAgent,
  modelsQuery,
  restoreAgent,
  useAgentChange,
} from "./queries";
import en from "./words.en.json";

const say = words(en);
const TONES: Record<string, Tone> = { published: "ok", draft: "idle", archived: "idle" };
const STATUS_WORDS: Record<string, string> = {
  published: say("published"),
  draft: say("draft"),
  archived: say("archived"),
};
export const AgentStatus = ({ status }: { status: string }) => (
  <Status tone={TONES[status] ?? "idle"}>{STATUS_WORDS[status] ?? status}</Status>
);

const Refusal = ({ error }: { error: unknown }) => (
  <div className="note bad" role="alert">
    {asApiError(error).message}
  </div>
);

export function CreateAgent({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { data: models } = useQuery(modelsQuery);
  const choices = (models?.data ?? []).filter((model) => model.available);
  const [name, setName] = useState("");
  const [model, setModel] = useState<string | null>(null);
  const [prompt, setPrompt] = useState("");
  const chosen = model ?? choices[0]?.id ?? null;
  const create = useAgentChange(createAgent);
  const submit = async () => {
    if (!chosen) return;
    const agent = await create.mutateAsync({ name, primary_model: chosen, system_prompt: prompt });
    await navigate({ to: "/agents/$agentId", params: { agentId: agent.id } });
  };
  return (
    <Modal opened onClose={onClose} title={say("createTitle")} size={460}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void submit().catch(() => undefined);
        }}
      >
        {create.error && <Refusal error={create.error} />}
        <TextInput
          label={say("name")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={100}
          data-autofocus
        />
        <Select
          label={say("model")}
          searchable
          data={choices.map((one) => ({ value: one.id, label: one.id }))}
          value={chosen}
          onChange={setModel}
        />
        <Textarea
          label={say("instructions")}
          description={say("instructionsHint")}
          minRows={4}
          autosize
          maxRows={10}
          value={prompt}
          onChange={(event) => setPrompt(event.currentTarget.value)}
        />
        <div className="row g8">
          <Button
            type="submit"
            className="push"
            loading={create.isPending}
            disabled={!name.trim() || !prompt.trim() || !chosen}
          >
            {say("create")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

export function DeleteAgent({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const remove = useAgentChange(deleteAgent);
  return (
    <Modal opened onClose={onClose} title={say("deleteTitle", { name: agent.name })} size={440}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void remove.mutateAsync(agent.id).then(onClose, () => undefined);
        }}
      >
        {remove.error && <Refusal error={remove.error} />}
        <p className="t-2">{say("deleteText")}</p>
        <TextInput
          label={say("typeName")}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
          autoComplete="off"
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button type="submit" color="red" loading={remove.isPending} disabled={typed !== agent.name}>
            {say("delete")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

export function AgentMenu({ agent, onDelete }: { agent: Agent; onDelete: () => void }) {
  const may = useMay();
  const navigate = useNavigate();
  const isArchived = agent.status === "archived";
  const move = useAgentChange(isArchived ? restoreAgent : archiveAgent);
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={say("actions", { name: agent.name })}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate({ to: "/agents/$agentId", params: { agentId: agent.id } })}>
          {say("open")}
        </Menu.Item>
        <Menu.Item onClick={() => void navigator.clipboard?.writeText(agent.id)}>{say("copyId")}</Menu.Item>
        {may("agents:write") && (
          <Menu.Item onClick={() => move.mutate(agent.id)}>{say(isArchived ? "restore" : "archive")}</Menu.Item>
        )}
        {may("agents:delete") && (
          <Menu.Item color="red" onClick={onDelete}>
            {say("delete")}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
