import Ellipsis from "icon:ellipsis";
import { ActionIcon, Button, Menu, Modal, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { useMay } from "../../api/queries";
import { words } from "../../shared/i18n/words";
import { chatModelsQuery } from "../../shared/providers/queries";
import {
  type Agent,
  archiveAgent,
  deleteAgent,
  duplicateAgent,
  exportAgent,
  fileName,
  importAgent,
  restoreAgent,
  saveFile,
  templatesQuery,
  useAgentChange,
} from "./queries";
import en from "./words.en.json";

const say = words(en, "features/agents");
// What the server gives an agent that says nothing about them.
const DEFAULT_TEMPERATURE = 0.7;
const DEFAULT_TOKENS = 2048;
const Refusal = ({ error }: { error: unknown }) => (
  <div className="note bad" role="alert">
    {asApiError(error).message}
  </div>
);

export function CreateAgent({ templateId, onClose }: { templateId?: string; onClose: () => void }) {
  const navigate = useNavigate();
  const { data: models } = useQuery(chatModelsQuery);
  const usable = (models ?? []).filter((model) => model.available);
  // Where nothing can be used yet, an agent can still be prepared for the model that the server brings.
  const choices = usable.length ? usable : (models ?? []).filter((model) => model.provider === "local");
  const { data: templates } = useQuery(templatesQuery);
  const [template, setTemplate] = useState(templateId);
  const chosenTemplate = templates?.find((one) => one.id === template);
  const [typedName, setName] = useState<string>();
  const [model, setModel] = useState<string | null>(null);
  const [typedPrompt, setPrompt] = useState<string>();
  const name = typedName ?? chosenTemplate?.name ?? "";
  const prompt = typedPrompt ?? chosenTemplate?.system_prompt ?? "";
  const chosen = model ?? choices[0]?.id ?? null;
  const create = useAgentChange(importAgent);
  const submit = async () => {
    if (!chosen) return;
    const { description = "", temperature = null, web_search: searches = false } = chosenTemplate ?? {};
    const made = { name, description, temperature, primary_model: chosen, system_prompt: prompt };
    const { agent } = await create.mutateAsync(
      chosenTemplate
        ? { format: "retinue.agent/1", agent: made, web_search: { enabled: searches } }
        : {
            format: "retinue.agent/1",
            agent: { ...made, temperature: DEFAULT_TEMPERATURE, max_tokens: DEFAULT_TOKENS },
          },
    );
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
        <Select
          label={say("templates")}
          data={(templates ?? []).map((one) => ({ value: one.id, label: one.name }))}
          placeholder={say("templateNone")}
          clearable
          value={template ?? null}
          onChange={(id) => {
            setTemplate(id ?? undefined);
            setName(undefined);
            setPrompt(undefined);
          }}
          description={chosenTemplate?.description}
        />
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
        {chosenTemplate && chosenTemplate.next_steps.length > 0 && (
          <p className="t-13 t-2">
            {say("nextSteps")}: {chosenTemplate.next_steps.join(" ")}
          </p>
        )}
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
  const copy = useAgentChange(duplicateAgent);
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
        <Menu.Item onClick={() => void exportAgent(agent.id).then((file) => saveFile(fileName(agent.name), file))}>
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
      </Menu.Dropdown>
    </Menu>
  );
}
