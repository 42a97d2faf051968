import RotateCcw from "icon:rotate-ccw";
import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { describeFailure } from "../../shared/failures/failures";
import { createTranslator } from "../../shared/i18n/words";
import { AgentMark } from "../../shared/marks/agent_mark";
import { CopyableId } from "../../shared/marks/copyable_id";
import { JsonView } from "../../shared/marks/json_view";
import { Note } from "../../shared/patterns/note";
import { FactList } from "../../shared/patterns/sheet";
import { SidePanel } from "../../shared/patterns/side_panel";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDuration, formatExactTime, formatTimeOfDay } from "../../shared/time";
import { executionWord } from "./execution_words";
import { executionQuery, type Tool, type ToolExecution } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
const PARTS = ["input", "output", "logs"] as const;
type Part = (typeof PARTS)[number];

type ExecutionPanelProps = { tool: Tool; id: string; known?: ToolExecution; onClose: () => void };

/** One run: what went wrong, who asked, what went in and what came out. Secrets are cut by the server. */
export function ExecutionPanel({ tool, id, known, onClose }: ExecutionPanelProps) {
  const read = useQuery({ ...executionQuery(tool.id, id), enabled: !known });
  const mayExecute = usePermissionCheck()("tools:execute");
  const execution = known ?? read.data;
  const when = execution && formatTimeOfDay(execution.executed_at);
  return (
    <SidePanel
      label={say("executionOf", { when: when ?? id })}
      title={execution ? `${when}, ${executionWord(execution)}` : "…"}
      subtitle={execution && say(`source_${execution.source}`)}
      onClose={onClose}
      foot={
        execution &&
        mayExecute &&
        !execution.redacted && (
          <Button
            size="xs"
            variant="default"
            leftSection={<RotateCcw size={13} />}
            renderRoot={(props) => (
              <Link {...props} to="/tools/$toolId" params={{ toolId: tool.id }} search={{ run: id }} />
            )}
          >
            {say("runAgain")}
          </Button>
        )
      }
    >
      {read.error && <FailureState error={read.error} onRetry={() => void read.refetch()} />}
      {!execution && !read.error && <RowSkeletons rows={4} columns={[90, 200]} />}
      {execution && <ExecutionDetails execution={execution} />}
    </SidePanel>
  );
}

function ExecutionDetails({ execution }: { execution: ToolExecution }) {
  const { error } = execution;
  const facts: [string, ReactNode][] = [
    ["askedBy", <Asker key="asker" execution={execution} />],
    ["when", formatExactTime(execution.executed_at)],
    ["took", say("tookTries", { time: formatDuration(execution.execution_time_ms), count: execution.attempts })],
  ].map(([name, value]) => [say(name as "when"), value]);
  return (
    <>
      {error && (
        <Note tone="bad">
          {describeFailure({ code: error.code, message: error.message ?? "" })}{" "}
          <code className="mono t-12">{error.code}</code>
        </Note>
      )}
      <FactList facts={facts} />
      {execution.redacted ? <Note>{say("redacted")}</Note> : <ExecutionValues execution={execution} />}
      <CopyableId>{execution.correlation_id}</CopyableId>
      <CopyableId>{execution.id}</CopyableId>
    </>
  );
}

function Asker({ execution }: { execution: ToolExecution }) {
  if (!execution.agent_id) return say(`source_${execution.source}`);
  return (
    <Link className="row g6 inline-link" to="/agents/$agentId" params={{ agentId: execution.agent_id }}>
      <AgentMark id={execution.agent_id} size={20} />
      {execution.agent_name ?? execution.agent_id}
    </Link>
  );
}

function ExecutionValues({ execution }: { execution: ToolExecution }) {
  const [part, setPart] = useState<Part>(execution.error ? "input" : "output");
  const details = execution.error?.details;
  return (
    <div className="stack g8">
      <SegmentedControl
        fullWidth
        aria-label={say("part")}
        data={PARTS.map((value) => ({ value, label: say(value) }))}
        value={part}
        onChange={(value) => setPart(PARTS.find((name) => name === value) ?? "input")}
      />
      {part === "input" && <JsonView value={execution.input} max={420} />}
      {part === "output" && <JsonView value={execution.output ?? details ?? null} max={420} />}
      {part === "logs" &&
        (execution.logs ? (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
          <pre className="code" tabIndex={0} role="group" aria-label={say("logs")}>
            {execution.logs}
          </pre>
        ) : (
          <p className="t-12 t-3">{say("noLogs")}</p>
        ))}
    </div>
  );
}
