import ChevronRight from "icon:chevron-right";
import { NumberInput, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { chatModelsQuery } from "../../../shared/providers/queries";
import { settingLabel } from "../../../shared/versions/labels";
import en from "../words.en.json";
import type { Edits, Snapshot } from "./draft";
import style from "./draft.module.css";
import { groupModels } from "./models";

const say = createTranslator(en, "features/agents");
type Props = { draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };
const MIN_CONTEXT = 1000;
const MAX_CONTEXT = 180_000;
const TIMEOUTS = ["turn_s", "first_byte_s", "between_chunks_s"] as const;

/** What few people change: how much the model reads, how long a reply may take, how tools are found, and the prompt cache. */
export function LimitSection({ draft, isReadOnly, onChange }: Props) {
  return (
    <details className={style.limits}>
      <summary>
        <ChevronRight size={14} />
        <h2 className="t-sec">{say("limits")}</h2>
      </summary>
      <div className={style.config}>
        <ContextLimits key={draft.max_context_tokens} draft={draft} isReadOnly={isReadOnly} onChange={onChange} />
      </div>
      <div className={`${style.config} ${style.thirds}`}>
        {TIMEOUTS.map((name) => (
          <NumberInput
            key={name}
            label={settingLabel(name)}
            disabled={isReadOnly}
            placeholder={say("instanceDefault")}
            min={1}
            max={3600}
            allowDecimal={false}
            clampBehavior="strict"
            value={draft.timeouts[name] ?? ""}
            onChange={(value) =>
              onChange({ timeouts: { ...draft.timeouts, [name]: typeof value === "number" ? value : null } })
            }
          />
        ))}
      </div>
      <div className={`${style.config} ${style.choices}`}>
        <div className="stack g4">
          <span className="r-label">{settingLabel("tool_search")}</span>
          <SegmentedControl
            aria-label={settingLabel("tool_search")}
            disabled={isReadOnly}
            data={[
              { value: "auto", label: say("searchAuto") },
              { value: "always", label: say("searchAlways") },
              { value: "off", label: say("searchOff") },
            ]}
            value={draft.tool_search}
            onChange={(value) => onChange({ tool_search: value as Snapshot["tool_search"] })}
          />
          <p className="t-12 t-3">{say("toolSearchText")}</p>
        </div>
        <div className="stack g4">
          <span className="r-label">{settingLabel("cache_ttl")}</span>
          <SegmentedControl
            aria-label={settingLabel("cache_ttl")}
            disabled={isReadOnly}
            data={[
              { value: "5m", label: say("cacheShort") },
              { value: "1h", label: say("cacheLong") },
            ]}
            value={draft.cache_ttl}
            onChange={(value) => onChange({ cache_ttl: value as Snapshot["cache_ttl"] })}
          />
        </div>
      </div>
    </details>
  );
}

/** How much of a conversation the model reads, and which one writes the summary of the rest. */
function ContextLimits({ draft, isReadOnly, onChange }: Props) {
  const { data: models = [] } = useQuery(chatModelsQuery);
  const [typed, setTyped] = useState<string | number>(draft.max_context_tokens ?? "");
  // Kept once it is whole: on the way to 5,000 stands 5, which is too little.
  const keepContextLimit = () => {
    const wanted = typeof typed === "number" ? Math.min(Math.max(typed, MIN_CONTEXT), MAX_CONTEXT) : null;
    if (wanted !== (draft.max_context_tokens ?? null)) onChange({ max_context_tokens: wanted });
  };
  return (
    <>
      <NumberInput
        label={settingLabel("max_context_tokens")}
        disabled={isReadOnly}
        placeholder={say("contextDefault")}
        min={MIN_CONTEXT}
        max={MAX_CONTEXT}
        allowDecimal={false}
        value={typed}
        onChange={setTyped}
        onBlur={keepContextLimit}
      />
      <Select
        label={settingLabel("compaction_model")}
        disabled={isReadOnly}
        placeholder={say("ownModel")}
        clearable
        searchable
        data={groupModels(models, draft.compaction_model ?? "")}
        value={draft.compaction_model ?? null}
        onChange={(value) => onChange({ compaction_model: value })}
      />
      <p className={`t-12 t-3 ${style.whole}`}>{say("contextTokensText")}</p>
    </>
  );
}
