import Megaphone from "icon:megaphone";
import Webhook from "icon:webhook";
import Workflow from "icon:workflow";
import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, unwrapData } from "../../../api/client";
import { usePermissionCheck } from "../../../api/queries";
import { createTranslator } from "../../../shared/i18n/words";
import style from "../events.module.css";
import type { EventData, Subscription } from "../queries";
import en from "../words.en.json";

const say = createTranslator(en, "features/events");
const WAYS = [
  { type: "workflow", icon: Workflow },
  { type: "webhook", icon: Webhook },
  { type: "notification", icon: Megaphone },
] as const;
const CHOICES = 100;

type ActionName = Subscription["action_type"];
type Props = {
  type: ActionName;
  config: EventData;
  problem?: string;
  onType: (type: ActionName) => void;
  onConfig: (config: EventData) => void;
};

const textOf = (value: unknown) => (typeof value === "string" ? value : "");
/** A config in which an empty text is no setting. */
const setText = (config: EventData, name: string, text: string): EventData => {
  const { [name]: _, ...rest } = config;
  return text ? { ...rest, [name]: text } : rest;
};

/** What is done: a workflow runs, an address is called, or people are told. */
export const ActionFields = ({ type, config, problem, onType, onConfig }: Props) => (
  <div className="stack g16">
    {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid of cards in every browser */}
    <div className={style.ways} role="group" aria-label={say("doThat")}>
      {WAYS.map(({ type: name, icon: Icon }) => (
        <button
          key={name}
          type="button"
          className={style.way}
          aria-pressed={name === type}
          onClick={() => onType(name)}
        >
          <Icon size={15} />
          <span className="t-13 t-500">{say(`action_${name}`)}</span>
        </button>
      ))}
    </div>
    {problem && (
      <p className="note bad" role="alert">
        {problem}
      </p>
    )}
    {type === "workflow" && <WorkflowChoice config={config} onConfig={onConfig} />}
    {type === "webhook" && <ReceiverChoice config={config} onConfig={onConfig} />}
    {type === "notification" && (
      <>
        <TextInput
          label={say("noteTitle")}
          description={say("templateHint")}
          value={textOf(config.title)}
          onChange={(event) => onConfig(setText(config, "title", event.currentTarget.value))}
        />
        <TextInput
          label={say("noteMessage")}
          value={textOf(config.message)}
          onChange={(event) => onConfig(setText(config, "message", event.currentTarget.value))}
        />
      </>
    )}
  </div>
);

/** A workflow by its name; somebody who may not read workflows gives its id. */
function WorkflowChoice({ config, onConfig }: Pick<Props, "config" | "onConfig">) {
  const mayRead = usePermissionCheck()("workflows:read");
  const workflows = useQuery({
    queryKey: ["workflows", "choices", "events"],
    queryFn: async () =>
      (await unwrapData(api.GET("/api/v1/workflows", { params: { query: { per_page: CHOICES } } }))).data,
    enabled: mayRead,
    staleTime: 60_000,
  });
  const chosen = textOf(config.workflow_id);
  const choices = workflows.data?.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  if (!mayRead)
    return (
      <TextInput
        label={say("workflow")}
        value={chosen}
        onChange={(event) => onConfig(setText(config, "workflow_id", event.currentTarget.value))}
      />
    );
  return (
    <Select
      label={say("workflow")}
      description={workflows.data?.length === 0 ? say("noWorkflows") : undefined}
      searchable
      data={chosen && !choices.some(({ value }) => value === chosen) ? [chosen, ...choices] : choices}
      value={chosen || null}
      onChange={(value) => onConfig(setText(config, "workflow_id", value ?? ""))}
    />
  );
}

/** One of the webhooks, whose deliveries are kept and replayed, or any other address. */
function ReceiverChoice({ config, onConfig }: Pick<Props, "config" | "onConfig">) {
  const mayRead = usePermissionCheck()("webhooks:read");
  const webhooks = useQuery({
    queryKey: ["webhooks", "choices"],
    queryFn: async () =>
      (await unwrapData(api.GET("/api/v1/webhooks", { params: { query: { per_page: CHOICES } } }))).data,
    enabled: mayRead,
    staleTime: 60_000,
  });
  const chosen = textOf(config.webhook_id);
  const choices = webhooks.data?.map(({ id, url, description }) => ({ value: id, label: description || url })) ?? [];
  return (
    <>
      {(mayRead || chosen) && (
        <Select
          label={say("webhook")}
          clearable
          searchable
          data={chosen && !choices.some(({ value }) => value === chosen) ? [chosen, ...choices] : choices}
          value={chosen || null}
          onChange={(value) => onConfig(value ? { webhook_id: value } : {})}
        />
      )}
      {!chosen && (
        <TextInput
          label={say("address")}
          description={say("addressHint")}
          type="url"
          maxLength={2048}
          value={textOf(config.url)}
          onChange={(event) => onConfig(setText(config, "url", event.currentTarget.value))}
        />
      )}
    </>
  );
}
