import { Button } from "@mantine/core";
import { useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useRef } from "react";
import { usePermissionCheck } from "../../../api/queries";
import { usePageCommands } from "../../../shared/frame/commands";
import { createTranslator } from "../../../shared/i18n/words";
import { CopyableId } from "../../../shared/marks/copyable_id";
import { ChangeBar } from "../../../shared/patterns/change_bar";
import { LeaveQuestion } from "../../../shared/patterns/leave_question";
import { Note } from "../../../shared/patterns/note";
import { Sheet } from "../../../shared/patterns/sheet";
import type { Tool } from "../queries";
import { ToolPage } from "../tool_page";
import en from "../words.en.json";
import type { CodeView } from "./code_editor";
import style from "./define.module.css";
import { DefinitionForm } from "./definition_form";
import { LaterRunPanel } from "./later_run_panel";
import { runTargetOf } from "./run_target";
import { useToolEditing } from "./tool_editing";

const say = createTranslator(en, "features/tools");
const ServerChanges = lazy(() => import("./server_changes").then((found) => ({ default: found.ServerChanges })));

/** What a tool does and how, and a panel to try it. */
export default function ToolDefinePage() {
  const { toolId } = useParams({ from: "/frame/tools/$toolId" });
  const { run } = useSearch({ from: "/frame/tools/$toolId" });
  return (
    <ToolPage toolId={toolId} tab="define">
      {(tool) => <ToolBench key={tool.id} tool={tool} runId={run} />}
    </ToolPage>
  );
}

function ToolBench({ tool, runId }: { tool: Tool; runId?: string }) {
  const may = usePermissionCheck();
  const mayWrite = may("tools:write");
  const editing = useToolEditing(tool);
  const codeView = useRef<CodeView>(null);
  usePageCommands(mayWrite ? [{ label: say("save"), keys: "mod+s", run: editing.saveChanges }] : []);
  return (
    <div className={style.bench}>
      <div className={style.left}>
        <Sheet width={860}>
          {tool.packages_error && <Note tone="bad">{tool.packages_error}</Note>}
          {mayWrite && tool.config.listed_at ? (
            <Suspense fallback={null}>
              <ServerChanges tool={tool} />
            </Suspense>
          ) : null}
          <DefinitionForm
            key={editing.revision}
            entered={editing.entered}
            error={editing.save.error}
            isReadOnly={!mayWrite}
            codeView={codeView}
            storedCredentialId={tool.credential_id}
            onChange={editing.change}
            onValidity={editing.markValidity}
          />
          <CopyableId>{tool.id}</CopyableId>
          <LeaveQuestion hasChanges={mayWrite && editing.hasChanges} />
          {mayWrite && editing.hasChanges && (
            <ChangeBar
              label={say("unsaved")}
              actions={
                <>
                  <Button size="xs" variant="default" onClick={editing.startAgain}>
                    {say("discard")}
                  </Button>
                  <Button
                    size="xs"
                    loading={editing.save.isPending}
                    disabled={!editing.isValid}
                    onClick={editing.saveChanges}
                  >
                    {say("save")}
                  </Button>
                </>
              }
            >
              <span className="t-13">{say(editing.isValid ? "unsavedText" : "unsavedInvalid")}</span>
            </ChangeBar>
          )}
        </Sheet>
      </div>
      {may("tools:execute") && (
        <LaterRunPanel
          target={runTargetOf(tool, editing.entered, { hasChanges: editing.hasChanges, mayTry: mayWrite })}
          isBlocked={!editing.isValid}
          runId={runId}
          onLine={tool.tool_type === "function" ? (line) => codeView.current?.goToLine(line) : undefined}
        />
      )}
    </div>
  );
}
