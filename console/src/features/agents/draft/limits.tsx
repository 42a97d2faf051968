import ChevronRight from "icon:chevron-right";
import { NumberInput, SegmentedControl } from "@mantine/core";
import { words } from "../../../shared/i18n/words";
import en from "../words.en.json";
import type { Edits, Snapshot } from "./draft";
import style from "./draft.module.css";

const say = words(en, "features/agents");
type Props = { draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };
const TIMEOUTS = ["turn_s", "first_byte_s", "between_chunks_s"] as const;

/** What few people change: how long a reply may take, how tools are found, and the prompt cache. */
export function LimitSection({ draft, isReadOnly, onChange }: Props) {
  return (
    <details className={style.limits}>
      <summary>
        <ChevronRight size={14} />
        <h2 className="t-sec">{say("limits")}</h2>
      </summary>
      <div className={style.config}>
        {TIMEOUTS.map((name) => (
          <NumberInput
            key={name}
            label={say(name)}
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
        <div className="stack g4">
          <span className="r-label">{say("toolSearch")}</span>
          <SegmentedControl
            aria-label={say("toolSearch")}
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
          <span className="r-label">{say("cacheTtl")}</span>
          <SegmentedControl
            aria-label={say("cacheTtl")}
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
