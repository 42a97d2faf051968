import { Checkbox, Switch } from "@mantine/core";
import { useState } from "react";
import { useMay } from "../../../../api/queries";
import type { components } from "../../../../api/schema";
import { Guide } from "../../../../shared/guides";
import { words } from "../../../../shared/i18n/words";
import { KindIcon } from "../../../../shared/marks/kind_icon";
import { Pill } from "../../../../shared/marks/status";
import { useSearchedList } from "../../found";
import { toolsQuery } from "../../queries";
import en from "../../words.en.json";
import { AddMenu } from "../add_menu";
import type { Edits, Snapshot, ToolOfDraft } from "../draft";
import style from "../draft.module.css";
import { moved, Rows } from "../rows";
import { Section } from "../section";

const say = words(en, "features/agents");
type Tool = components["schemas"]["ToolSummary"];
type Props = { draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };

const numbered = (tools: ToolOfDraft[]) => tools.map((tool, at) => ({ ...tool, display_order: at }));
const byOrder = (tools: ToolOfDraft[]) => [...tools].sort((a, b) => a.display_order - b.display_order);

/** "Can do": the tools, in the order in which the model is offered them. */
export function ToolSection({ draft, isReadOnly, onChange }: Props) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const canList = may("tools:read");
  const tools = byOrder(draft.tools);
  const { all, shown, setSearch } = useSearchedList(toolsQuery, canList && (isOpen || tools.length > 0));
  const known = new Map([...(all ?? []), ...(shown ?? [])].map((tool) => [tool.id, tool]));
  const isSearched = mayBeSearched(draft);
  const set = (next: ToolOfDraft[]) => onChange({ tools: numbered(next) });
  const update = (id: string, change: Partial<ToolOfDraft>) =>
    onChange({ tools: tools.map((tool) => (tool.tool_id === id ? { ...tool, ...change } : tool)) });
  return (
    <Section
      title={say("canDo")}
      note={say("toolCount", { count: tools.length })}
      action={
        !isReadOnly &&
        canList && (
          <AddMenu
            label={say("tool")}
            find={say("findTool")}
            choices={shown
              ?.filter((tool) => !tools.some((one) => one.tool_id === tool.id))
              .map((tool) => ({ id: tool.id, name: tool.name, note: aboutTool(tool) }))}
            none={
              <>
                {say(all?.length ? "noTools" : "noToolAtAll")} <Guide page="tools">{say("readTools")}</Guide>
              </>
            }
            onOpen={() => setOpen(true)}
            onSearch={setSearch}
            onChoose={(id) => {
              const tool = known.get(id);
              if (tool) set([...tools, newTool(tool)]);
            }}
          />
        )
      }
    >
      {tools.length === 0 ? (
        <p className={style.none}>{say("noToolsYet")}</p>
      ) : (
        <Rows
          label={say("canDo")}
          isReadOnly={isReadOnly}
          onMove={(from, to) => set(moved(tools, from, to))}
          onRemove={(id) => set(tools.filter((tool) => tool.tool_id !== id))}
          rows={tools.map((tool) => ({
            id: tool.tool_id,
            name: tool.name,
            body: (
              <ToolRow
                tool={tool}
                found={known.get(tool.tool_id)}
                isReadOnly={isReadOnly}
                isSearched={isSearched}
                onChange={(change) => update(tool.tool_id, change)}
              />
            ),
          }))}
        />
      )}
    </Section>
  );
}

/** How many functions there are is known to the server only; from here on it may search them. */
const MANY_TOOLS = 5;
const mayBeSearched = ({ tool_search, tools }: Snapshot) =>
  tool_search === "always" ||
  (tool_search === "auto" && (tools.length >= MANY_TOOLS || tools.some((tool) => tool.always_offered)));

const newTool = (tool: Tool): ToolOfDraft => ({
  tool_id: tool.id,
  name: tool.name,
  is_enabled: true,
  display_order: 0,
  config_override: null,
  requires_approval: false,
  always_offered: false,
});
const aboutTool = (tool: Tool) => [say(tool.tool_type), tool.description].filter(Boolean).join(" · ");

type RowProps = {
  tool: ToolOfDraft;
  found?: Tool;
  isReadOnly: boolean;
  isSearched: boolean;
  onChange: (change: Partial<ToolOfDraft>) => void;
};

function ToolRow({ tool, found, isReadOnly, isSearched, onChange }: RowProps) {
  // A tool that asks by itself does so in every agent; here one can only add to it.
  const isAlways = Boolean(found?.requires_approval);
  return (
    <>
      <KindIcon of="tool" small />
      <span className="stack grow">
        <span className={`t-500 cut ${style.name} ${tool.is_enabled ? "" : "t-3"}`}>{tool.name}</span>
        {found && <span className="t-12 t-3 cut">{aboutTool(found)}</span>}
      </span>
      <span className={style.options}>
        {isSearched && (
          <Checkbox
            className={style.asks}
            label={say("alwaysOffered")}
            aria-label={say("alwaysOfferedOf", { name: tool.name })}
            disabled={isReadOnly}
            checked={tool.always_offered}
            onChange={(event) => onChange({ always_offered: event.currentTarget.checked })}
          />
        )}
        {isAlways ? (
          <Pill tone="warn">{say("requiresApproval")}</Pill>
        ) : (
          <Checkbox
            className={style.asks}
            label={say("requiresApproval")}
            aria-label={say("requiresApprovalOf", { name: tool.name })}
            disabled={isReadOnly}
            checked={tool.requires_approval}
            onChange={(event) => onChange({ requires_approval: event.currentTarget.checked })}
          />
        )}
      </span>
      <Switch
        aria-label={say("enableNamed", { name: tool.name })}
        disabled={isReadOnly}
        checked={tool.is_enabled}
        onChange={(event) => onChange({ is_enabled: event.currentTarget.checked })}
      />
    </>
  );
}
