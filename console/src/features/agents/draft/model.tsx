import RotateCcw from "icon:rotate-ccw";
import { ActionIcon, NumberInput, Select, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { KindIcon } from "../../../shared/marks/kind_icon";
import { chatModelsQuery } from "../../../shared/providers/queries";
import { formatDecimal } from "../../../shared/time";
import { settingLabel } from "../../../shared/versions/labels";
import en from "../words.en.json";
import { AddMenu } from "./add_menu";
import type { Edits, Snapshot } from "./draft";
import style from "./draft.module.css";
import { describeModel, groupModels, isReasoningModel, type ListedModel } from "./models";
import { moveItem, SortableRows } from "./rows";
import { DraftSection } from "./section";

const say = createTranslator(en, "features/agents");
const MAX_FALLBACKS = 5;
const DEFAULT_TEMPERATURE = 0.7;
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
type Props = { draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };

/** The model, what it is told about length and temperature, and which ones stand in for it. */
export function ModelSection({ draft, isReadOnly, onChange }: Props) {
  const { data: all = [] } = useQuery(chatModelsQuery);
  const model = all.find((one) => one.id === draft.primary_model);
  return (
    <DraftSection
      title={say("model")}
      note={model?.available && describeModel(model)}
      action={
        !isReadOnly &&
        draft.fallback_models.length < MAX_FALLBACKS && (
          <AddMenu
            label={say("fallback")}
            find={say("findModel")}
            choices={listFallbackChoices(all, draft)}
            none={say("noModels")}
            onChoose={(id) => onChange({ fallback_models: [...draft.fallback_models, id] })}
          />
        )
      }
    >
      <div className={style.model}>
        <ModelPicker models={all} draft={draft} isReadOnly={isReadOnly} onChange={onChange} />
        <TemperatureField
          value={draft.temperature}
          isReadOnly={isReadOnly}
          onChange={(temperature) => onChange({ temperature })}
        />
        <NumberInput
          label={settingLabel("max_tokens")}
          disabled={isReadOnly}
          placeholder={say("notSent")}
          min={1}
          max={1_000_000}
          allowDecimal={false}
          value={draft.max_tokens ?? ""}
          onChange={(value) => onChange({ max_tokens: typeof value === "number" ? value : null })}
        />
        <Select
          label={settingLabel("reasoning_effort")}
          disabled={isReadOnly}
          placeholder={say("providerDefault")}
          clearable
          data={EFFORTS.map((value) => ({ value, label: say(`effort_${value}`) }))}
          value={draft.reasoning_effort ?? null}
          onChange={(value) => onChange({ reasoning_effort: value })}
        />
      </div>
      {model && !model.available && <UnavailableNote model={model} />}
      <FallbackModels models={all} draft={draft} isReadOnly={isReadOnly} onChange={onChange} />
    </DraftSection>
  );
}

function ModelPicker({ models, draft, isReadOnly, onChange }: Props & { models: ListedModel[] }) {
  const chooseModel = (id: string | null) => {
    if (!id) return;
    // A reasoning model spends a small limit on thinking and refuses a temperature: neither is sent.
    const quiet = isReasoningModel(id) && !isReasoningModel(draft.primary_model);
    onChange({ primary_model: id, ...(quiet ? { temperature: null, max_tokens: null } : {}) });
  };
  return (
    <Select
      className={style.modelPicker}
      aria-label={say("model")}
      leftSection={<KindIcon kind="model" small />}
      searchable
      disabled={isReadOnly}
      maxDropdownHeight={340}
      comboboxProps={{ width: 400, position: "bottom-start" }}
      classNames={{ option: style.option }}
      data={groupModels(models, draft.primary_model)}
      value={draft.primary_model}
      onChange={chooseModel}
      nothingFoundMessage={say("noMatchTitle")}
      renderOption={({ option }) => (
        <ModelOption model={models.find((one) => one.id === option.value)} id={option.value} />
      )}
    />
  );
}

const UnavailableNote = ({ model }: { model: ListedModel }) => (
  <div className="note warn">
    <span>
      {describeModel(model)}{" "}
      <Link className="inline-link" to="/settings/models">
        {say("openModels")}
      </Link>
    </span>
  </div>
);

const listFallbackChoices = (models: ListedModel[], draft: Snapshot) =>
  models
    .filter(({ id }) => id !== draft.primary_model && !draft.fallback_models.includes(id))
    .sort((a, b) => Number(b.available) - Number(a.available))
    .map((model) => ({ id: model.id, name: model.id, note: describeModel(model), isDisabled: !model.available }));

const ModelOption = ({ model, id }: { model?: ListedModel; id: string }) => (
  <span className="stack">
    <span className="t-13 cut">{id}</span>
    {model && <span className="t-12 t-3">{describeModel(model)}</span>}
  </span>
);

type TemperatureProps = { value: number | null; isReadOnly: boolean; onChange: (value: number | null) => void };

function TemperatureField({ value, isReadOnly, onChange }: TemperatureProps) {
  const id = useId();
  return (
    <div className={style.temperature}>
      <div className="row g4">
        <label className="r-label grow" htmlFor={id}>
          {settingLabel("temperature")}
        </label>
        <output className="t-13 num" htmlFor={id}>
          {value === null ? say("notSent") : formatDecimal(value, 1, 2)}
        </output>
        {value !== null && !isReadOnly && (
          <Tooltip label={say("leaveToModel")}>
            <ActionIcon size={24} aria-label={say("leaveToModel")} onClick={() => onChange(null)}>
              <RotateCcw size={13} />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      <input
        id={id}
        type="range"
        min={0}
        max={1}
        step={0.05}
        disabled={isReadOnly}
        data-unset={value === null || undefined}
        value={value ?? DEFAULT_TEMPERATURE}
        aria-valuetext={value === null ? say("notSent") : undefined}
        onChange={(event) => onChange(Number(event.currentTarget.value))}
      />
    </div>
  );
}

function FallbackModels({ models, draft, isReadOnly, onChange }: Props & { models: ListedModel[] }) {
  const chosen = draft.fallback_models;
  if (!chosen.length) return null;
  return (
    <>
      <span className="t-12 t-3">{say("fallbackNote")}</span>
      <SortableRows
        label={settingLabel("fallback_models")}
        isReadOnly={isReadOnly}
        onMove={(from, to) => onChange({ fallback_models: moveItem(chosen, from, to) })}
        onRemove={(id) => onChange({ fallback_models: chosen.filter((one) => one !== id) })}
        rows={chosen.map((id) => {
          const model = models.find((one) => one.id === id);
          return {
            id,
            name: id,
            body: (
              <>
                <KindIcon kind="model" small />
                <span className="t-500 cut">{id}</span>
                <span className="t-12 t-3 cut grow">{model && describeModel(model)}</span>
              </>
            ),
          };
        })}
      />
    </>
  );
}
