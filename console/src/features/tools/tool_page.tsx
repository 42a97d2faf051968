import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { PageTabs } from "../../shared/patterns/page_tabs";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { deleteTool, executionsQuery, type Tool, toolQuery, useToolChange } from "./queries";
import { ToolState } from "./tool_state";
import { ToolSwitch } from "./tool_switch";
import { ToolIcon } from "./type_icon";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
const TABS = [
  { name: "define", to: "/tools/$toolId" },
  { name: "executions", to: "/tools/$toolId/executions" },
  { name: "statistics", to: "/tools/$toolId/statistics" },
  { name: "uses", to: "/tools/$toolId/uses" },
] as const;

type ToolPageProps = {
  toolId: string;
  tab: (typeof TABS)[number]["name"];
  actions?: ReactNode;
  children: (tool: Tool) => ReactNode;
};

/** The frame that all screens of one tool share: its bar, its state and the tabs to its other screens. */
export function ToolPage({ toolId, tab, actions, children }: ToolPageProps) {
  const { data: tool, error, refetch } = useQuery(toolQuery(toolId));
  const { data: runs } = useQuery(executionsQuery(toolId, {}));
  const mayWrite = usePermissionCheck()("tools:write");
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <PageBar
        trail={[{ label: say("title"), to: "/tools" }]}
        title={tool?.name ?? (error ? toolId : "…")}
        tab={tab === "define" ? undefined : say(tab)}
        isThere={Boolean(tool)}
        after={
          tool && (
            <span className="row g8 wide">
              <ToolIcon type={tool.tool_type} isSmall />
              <ToolState {...tool} last_status={runs?.data[0]?.status ?? null} hasHeldChanges={false} />
              {tool.requires_approval && <StatusPill tone="warn">{say("asksFirst")}</StatusPill>}
            </span>
          )
        }
      >
        {tool && <ToolSwitch tool={tool} />}
        {tool && actions}
        {tool && mayWrite && (
          <ActionsMenu label={say("more")}>
            <Menu.Item color="red" onClick={() => setDeleting(true)}>
              {say("delete")}
            </Menu.Item>
          </ActionsMenu>
        )}
      </PageBar>
      <PageTabs
        label={say("parts")}
        tabs={TABS.map(({ name, to }) => ({ label: say(name), to, params: { toolId } }))}
      />
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {!error && !tool && <RowSkeletons columns={[120, 300]} />}
      {tool && children(tool)}
      {tool && isDeleting && <DeleteToolDialog tool={tool} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteToolDialog({ tool, onClose }: { tool: Tool; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useToolChange(deleteTool);
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: tool.name })}
      name={tool.name}
      label={say("typeName", { name: tool.name })}
      action={say("delete")}
      problem={remove.error ? asApiError(remove.error).message : undefined}
      isBusy={remove.isPending}
      onConfirm={async () => {
        await remove.mutateAsync(tool.id);
        await navigate({ to: "/tools", replace: true });
      }}
      onClose={onClose}
    >
      {say("deleteText")}
    </ConfirmByNameDialog>
  );
}
