import { Button, Modal, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { words } from "../../shared/i18n/words";
import { chatModelsQuery } from "../../shared/providers/queries";
import { useFields } from "../../shared/use_fields";
import { importAgent, templatesQuery, useAgentChange } from "./queries";
import { RefusalNote } from "./refusal_note";
import en from "./words.en.json";

const say = words(en, "features/agents");
// What the server gives an agent that says nothing about them.
const DEFAULT_TEMPERATURE = 0.7;
const DEFAULT_TOKENS = 2048;

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
  const { form, rest, problemOf } = useFields(create.error, ["name", "primary_model", "system_prompt"]);
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
        ref={form}
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void submit().catch(() => undefined);
        }}
      >
        {create.error && rest && <RefusalNote error={create.error} />}
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
          error={problemOf("name")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
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
