import ArrowUp from "icon:arrow-up";
import Lock from "icon:lock";
import PlusIcon from "icon:plus";
import RotateCcw from "icon:rotate-ccw";
import Square from "icon:square";
import { ActionIcon, Button, Textarea, Tooltip } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { KeyboardEvent } from "react";
import type { components } from "../../api/schema";
import { AgentPage } from "../../shared/agent/agent_page";
import { useKeptText } from "../../shared/chat/unsent";
import { createTranslator } from "../../shared/i18n/words";
import { useMissingAccessHint } from "../../shared/states/access";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { draftQuery, type VersionName, versionsQuery } from "../../shared/versions/queries";
import { ColumnView } from "./column";
import style from "./compare.module.css";
import { MAX_COLUMNS, MIN_COLUMNS, useComparison } from "./comparison";
import { computeReplyFigures } from "./figures";
import { VerdictPicker } from "./verdict";
import en from "./words.en.json";

const say = createTranslator(en, "features/versions");
type Agent = components["schemas"]["AgentOut"];
type Comparison = ReturnType<typeof useComparison>;

type ComposerProps = { comparison: Comparison; text: string; onChange: (text: string) => void };

function ComparisonComposer({ comparison, text, onChange }: ComposerProps) {
  const needsWrite = useMissingAccessHint("agents:write");
  const needsChat = useMissingAccessHint("agents:chat");
  // Another version may have tools that the one in use has not: who may ask it may also change the agent.
  const missing = needsWrite || needsChat;
  const { isLive, ask, stop } = comparison;
  const sendQuestion = () => {
    if (!text.trim() || isLive) return;
    ask(text.trim());
  };
  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isLive) stop();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    sendQuestion();
  };
  if (missing)
    return (
      <div className="note">
        <Lock size={15} />
        <span>{missing}</span>
      </div>
    );
  return (
    <div className={style.composer}>
      <Textarea
        classNames={{ input: style.input }}
        autosize
        minRows={1}
        maxRows={6}
        maxLength={32000}
        placeholder={say("askAll")}
        aria-label={say("askAll")}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={handleKeyDown}
      />
      {isLive ? (
        <ActionIcon variant="default" aria-label={say("stop")} onClick={stop}>
          <Square size={13} />
        </ActionIcon>
      ) : (
        <ActionIcon variant="filled" aria-label={say("send")} disabled={!text.trim()} onClick={sendQuestion}>
          <ArrowUp size={15} />
        </ActionIcon>
      )}
    </div>
  );
}

function ComparisonTools({ comparison, agent }: { comparison: Comparison; agent: Agent }) {
  const { columns, add, clear, isLive } = comparison;
  return (
    <div className={style.tools}>
      <span className="t-3 t-12 grow">{say("compareHint")}</span>
      <VerdictPicker agentId={agent.id} columns={columns} />
      <Tooltip label={say("again")}>
        <ActionIcon aria-label={say("again")} onClick={clear} disabled={!columns.some(({ turns }) => turns.length)}>
          <RotateCcw size={15} />
        </ActionIcon>
      </Tooltip>
      <Button
        variant="default"
        size="xs"
        leftSection={<PlusIcon size={13} />}
        disabled={columns.length >= MAX_COLUMNS || isLive}
        onClick={() => add(agent.version)}
      >
        {say("addColumn")}
      </Button>
    </div>
  );
}

type BoardProps = { agent: Agent; start: VersionName[]; versions: VersionName[] };

function ComparisonBoard({ agent, start, versions }: BoardProps) {
  const { text, setText, ask, settle } = useKeptText(`compare.${agent.id}`);
  const comparison = useComparison(agent.id, start, { onAsk: ask, onOver: settle });
  const { columns, choose, remove, isLive } = comparison;
  const figures = columns.map(({ turns }) => computeReplyFigures(turns.at(-1)));
  return (
    <div className={style.page}>
      <ComparisonTools comparison={comparison} agent={agent} />
      <div className={style.columns}>
        {columns.map((column, i) => (
          <ColumnView
            key={column.id}
            column={column}
            place={i + 1}
            versions={versions}
            now={agent.version}
            figures={figures}
            isLocked={isLive}
            onChoose={(version, model) => choose(column.id, version, model)}
            onRetry={() => comparison.askAgain(column.id)}
            onRemove={columns.length > MIN_COLUMNS ? () => remove(column.id) : undefined}
          />
        ))}
      </div>
      <ComparisonComposer comparison={comparison} text={text} onChange={setText} />
    </div>
  );
}

function LoadedComparison({ agent }: { agent: Agent }) {
  const versions = useInfiniteQuery(versionsQuery(agent.id));
  const draft = useQuery(draftQuery(agent.id));
  const error = versions.error ?? draft.error;
  if (error)
    return <FailureState error={error} onRetry={() => void Promise.all([versions.refetch(), draft.refetch()])} />;
  if (!versions.data || !draft.data) return <RowSkeletons columns={[300, 300]} />;
  const numbers = versions.data.pages.flatMap((page) => page.data.map(({ version }) => version));
  const other = draft.data.is_stored ? "draft" : Math.max(1, agent.version - 1);
  const known: VersionName[] = draft.data.is_stored ? ["draft", ...numbers] : numbers;
  const start: VersionName[] = draft.data.is_stored ? [agent.version, other] : [other, agent.version];
  return <ComparisonBoard agent={agent} start={start} versions={known} />;
}

export default function ComparePage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/compare" });
  return (
    <AgentPage agentId={agentId} tab="compare">
      {(agent) => <LoadedComparison agent={agent} />}
    </AgentPage>
  );
}
