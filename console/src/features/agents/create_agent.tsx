import { Button, Modal, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { chatModelsQuery } from "../../shared/providers/queries";
import { createSubmitHandler } from "../../shared/submit_handler";
import { useFieldProblems } from "../../shared/use_fields";
import { createAgentFile } from "./new_agent";
import { importAgent, templatesQuery, useAgentChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");

function useModelChoices() {
  const { data: models = [] } = useQuery(chatModelsQuery);
  const usable = models.filter((model) => model.available);
  // Where nothing can be used yet, an agent can still be prepared for the model that the server brings.
  return usable.length ? usable : models.filter((model) => model.provider === "local");
}

/** Name and instructions: those of the template until something is typed. */
function useAgentFields(firstTemplateId?: string) {
  const { data: templates = [] } = useQuery(templatesQuery);
  const [templateId, setTemplateId] = useState(firstTemplateId);
  const [typedName, setName] = useState<string>();
  const [typedPrompt, setPrompt] = useState<string>();
  const template = templates.find((one) => one.id === templateId);
  const name = typedName ?? template?.name ?? "";
  const prompt = typedPrompt ?? template?.system_prompt ?? "";
  const chooseTemplate = (id?: string) => {
    setTemplateId(id);
    setName(undefined);
    setPrompt(undefined);
  };
  return { templates, templateId, template, name, prompt, setName, setPrompt, chooseTemplate };
}

export function CreateAgentDialog({ templateId, onClose }: { templateId?: string; onClose: () => void }) {
  const navigate = useNavigate();
  const choices = useModelChoices();
  const fields = useAgentFields(templateId);
  const { templates, template, name, prompt } = fields;
  const [model, setModel] = useState<string | null>(null);
  const chosen = model ?? choices[0]?.id ?? null;
  const create = useAgentChange(importAgent);
  const { form, rest, problemOf } = useFieldProblems(create.error, ["name", "primary_model", "system_prompt"]);
  const submitAgent = async () => {
    if (!chosen) return;
    const { agent } = await create.mutateAsync(createAgentFile(name, chosen, prompt, template));
    await navigate({ to: "/agents/$agentId", params: { agentId: agent.id } });
  };
  return (
    <Modal opened onClose={onClose} title={say("createTitle")} size={460}>
      <form ref={form} className="stack g16" onSubmit={createSubmitHandler(submitAgent)}>
        {rest && <RefusalNote error={create.error} />}
        <Select
          label={say("templates")}
          data={templates.map((one) => ({ value: one.id, label: one.name }))}
          placeholder={say("templateNone")}
          clearable
          value={fields.templateId ?? null}
          onChange={(id) => fields.chooseTemplate(id ?? undefined)}
          description={template?.description}
        />
        <TextInput
          label={say("name")}
          error={problemOf("name")}
          value={name}
          onChange={(event) => fields.setName(event.currentTarget.value)}
          maxLength={100}
          data-autofocus
        />
        <Select
          label={say("model")}
          error={problemOf("primary_model")}
          searchable
          data={choices.map((one) => ({ value: one.id, label: one.id }))}
          value={chosen}
          onChange={setModel}
        />
        <Textarea
          label={say("instructions")}
          description={say("instructionsHint")}
          error={problemOf("system_prompt")}
          minRows={4}
          autosize
          maxRows={10}
          value={prompt}
          onChange={(event) => fields.setPrompt(event.currentTarget.value)}
        />
        {template && template.next_steps.length > 0 && (
          <p className="t-13 t-2">
            {say("nextSteps")}: {template.next_steps.join(" ")}
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
