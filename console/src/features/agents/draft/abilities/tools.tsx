import { Checkbox, Switch } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { usePermissionCheck } from "../../../../api/queries";
import type { components } from "../../../../api/schema";
import { GuideLink } from "../../../../shared/guides";
import { createTranslator } from "../../../../shared/i18n/words";
import { KindIcon } from "../../../../shared/marks/kind_icon";
import { StatusPill } from "../../../../shared/marks/status";
import { useSearchedList } from "../../found";
import { toolsQuery } from "../../queries";
import en from "../../words.en.json";
import { AddMenu } from "../add_menu";
import type { Edits, Snapshot, ToolOfDraft } from "../draft";
import style from "../draft.module.css";
import { moveItem, SortableRows } from "../rows";
import { DraftSection } from "../section";

const say = createTranslator(en, "features/agents");
const NewToolDialog = lazy(() => import("../../../tools/new/new_tool_dialog"));
type Tool = components["schemas"]["ToolListed"];
type Props = { draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };

const numberTools = (tools: ToolOfDraft[]) => tools.map((tool, at) => ({ ...tool, display_order: at }));
const sortToolsByOrder = (tools: ToolOfDraft[]) => [...tools].sort((a, b) => a.display_order - b.display_order);

/** "Can do": the tools, in the order in which the model is offered them. */
export function ToolSection({ draft, isReadOnly, onChange }: Props) {
  const may = usePermissionCheck();
  const [isOpen, setOpen] = useState(false);
  const [isCreating, setCreating] = useState(false);
  const canList = may("tools:read");
  const tools = sortToolsByOrder(draft.tools);
  const { all, shown, setSearch } = useSearchedList(toolsQuery, canList && (isOpen || tools.length > 0));
  const known = new Map([...(all ?? []), ...(shown ?? [])].map((tool) => [tool.id, tool]));
  const isSearched = isSearchAvailable(draft);
  const changeTools = (next: ToolOfDraft[]) => onChange({ tools: numberTools(next) });
  const updateTool = (id: string, change: Partial<ToolOfDraft>) =>
    onChange({ tools: tools.map((tool) => (tool.tool_id === id ? { ...tool, ...change } : tool)) });
  return (
    <DraftSection
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
              .map((tool) => ({ id: tool.id, name: tool.name, note: describeTool(tool) }))}
            none={
              <>
                {say(all?.length ? "noTools" : "noToolAtAll")} <GuideLink page="tools">{say("readTools")}</GuideLink>
              </>
            }
            create={may("tools:write") ? { label: say("newTool"), onCreate: () => setCreating(true) } : undefined}
            onOpen={() => setOpen(true)}
            onSearch={setSearch}
            onChoose={(id) => {
              const tool = known.get(id);
              if (tool) changeTools([...tools, createTool(tool)]);
            }}
          />
        )
      }
    >
      {tools.length === 0 ? (
        <p className={style.none}>{say("noToolsYet")}</p>
      ) : (
        <SortableRows
          label={say("canDo")}
          isReadOnly={isReadOnly}
          onMove={(from, to) => changeTools(moveItem(tools, from, to))}
          onRemove={(id) => changeTools(tools.filter((tool) => tool.tool_id !== id))}
          rows={tools.map((tool) => ({
            id: tool.tool_id,
            name: tool.name,
            body: (
              <ToolRow
                tool={tool}
                found={known.get(tool.tool_id)}
                isReadOnly={isReadOnly}
                isSearched={isSearched}
                onChange={(change) => updateTool(tool.tool_id, change)}
              />
            ),
          }))}
        />
      )}
      {isCreating && (
        <Suspense>
          <NewToolDialog
            onMade={(tool) => {
              changeTools([...tools, createTool(tool)]);
              setCreating(false);
            }}
            onClose={() => setCreating(false)}
          />
        </Suspense>
      )}
    </DraftSection>
  );
}

/** How many functions there are is known to the server only; from here on it may search them. */
const MANY_TOOLS = 5;
const isSearchAvailable = ({ tool_search, tools }: Snapshot) =>
  tool_search === "always" ||
  (tool_search === "auto" && (tools.length >= MANY_TOOLS || tools.some((tool) => tool.always_offered)));

const createTool = (tool: Pick<Tool, "id" | "name">): ToolOfDraft => ({
  tool_id: tool.id,
  name: tool.name,
  is_enabled: true,
  display_order: 0,
  config_override: null,
  requires_approval: false,
  always_offered: false,
});
const describeTool = (tool: Tool) => [say(tool.tool_type), tool.description].filter(Boolean).join(" · ");

/** The name leads to the page of the tool, for those who may see it. */
function ToolName({ tool }: { tool: ToolOfDraft }) {
  const maySee = usePermissionCheck()("tools:read");
  const look = `t-500 cut ${style.name} ${tool.is_enabled ? "" : "t-3"}`;
  if (!maySee) return <span className={look}>{tool.name}</span>;
  return (
    <Link className={look} to="/tools/$toolId" params={{ toolId: tool.tool_id }}>
      {tool.name}
    </Link>
  );
}

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
      <KindIcon kind="tool" small />
      <span className="stack grow">
        <ToolName tool={tool} />
        {found && <span className="t-12 t-3 cut">{describeTool(found)}</span>}
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
          <StatusPill tone="warn">{say("requiresApproval")}</StatusPill>
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
