import Plus from "icon:plus";
import { Button, Switch, Textarea } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { createTranslator } from "../../../../shared/i18n/words";
import { AgentMark } from "../../../../shared/marks/agent_mark";
import { StatusPill } from "../../../../shared/marks/status";
import { useSearchedList } from "../../found";
import { agentChoicesQuery } from "../../queries";
import en from "../../words.en.json";
import { AddMenu } from "../add_menu";
import type { Edits, Snapshot, SubAgentOfDraft } from "../draft";
import style from "../draft.module.css";
import { SortableRows } from "../rows";
import { DraftSection } from "../section";
import type { OwnAgent } from "./sub_agent_dialog";

const say = createTranslator(en, "features/agents");
const SubAgentDialog = lazy(() => import("./sub_agent_dialog"));
type Props = { agentId: string; draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };

/**
 * "Hands on to": the agents that take over part of the work, each with the sentence that says when. They are other agents
 * of the tenant, or agents that belong to this one alone.
 */
export function SubAgentSection({ agentId, draft, isReadOnly, onChange }: Props) {
  // By place, not by id: an agent that was just added gets its id when the draft is saved.
  const [edited, setEdited] = useState<number>();
  const subs = draft.sub_agents;
  const changeSubAgents = (next: SubAgentOfDraft[]) => onChange({ sub_agents: next });
  const updateSubAgent = (id: string, change: Partial<SubAgentOfDraft>) =>
    changeSubAgents(subs.map((sub) => (sub.id === id ? { ...sub, ...change } : sub)));
  const applyOwnAgent = (agent: OwnAgent) => {
    const at = edited ?? subs.length;
    const replaced = subs.map((sub, i) => (i === at ? applyAgentToSub(sub, agent) : sub));
    changeSubAgents(at < subs.length ? replaced : [...subs, createOwnAgent(agent)]);
    setEdited(undefined);
  };
  const attachAgent: AttachProps["onAttach"] = (agent) => changeSubAgents([...subs, createSubAgent(agent)]);
  return (
    <DraftSection
      title={say("handsOn")}
      note={say("subAgentCount", { count: subs.length })}
      action={
        !isReadOnly && (
          <span className="row g2">
            <Button size="xs" variant="subtle" leftSection={<Plus size={14} />} onClick={() => setEdited(subs.length)}>
              {say("ownAgent")}
            </Button>
            <AttachAgentMenu agentId={agentId} subs={subs} onAttach={attachAgent} />
          </span>
        )
      }
    >
      {subs.length === 0 ? (
        <p className={style.none}>{say("noSubAgentsYet")}</p>
      ) : (
        <SortableRows
          label={say("handsOn")}
          isReadOnly={isReadOnly}
          onRemove={(id) => changeSubAgents(subs.filter((sub) => sub.id !== id))}
          rows={subs.map((sub, at) => ({
            id: sub.id,
            key: String(at),
            name: sub.name,
            body: (
              <SubAgentRow
                sub={sub}
                isReadOnly={isReadOnly}
                onEdit={() => setEdited(at)}
                onChange={(change) => updateSubAgent(sub.id, change)}
              />
            ),
            below: (
              <Textarea
                className={style.delegation}
                aria-label={say("delegationOf", { name: sub.name })}
                placeholder={say("delegation")}
                autosize
                minRows={1}
                maxRows={6}
                maxLength={32_000}
                readOnly={isReadOnly}
                value={sub.delegation_prompt}
                onChange={(event) => updateSubAgent(sub.id, { delegation_prompt: event.currentTarget.value })}
              />
            ),
          }))}
        />
      )}
      <Suspense fallback={null}>
        {edited !== undefined && (
          <SubAgentDialog
            edited={subs[edited]?.agent ?? undefined}
            model={draft.primary_model}
            onClose={() => setEdited(undefined)}
            onDone={applyOwnAgent}
          />
        )}
      </Suspense>
    </DraftSection>
  );
}

type AttachProps = {
  agentId: string;
  subs: SubAgentOfDraft[];
  onAttach: (agent: { id: string; name: string }) => void;
};

function AttachAgentMenu({ agentId, subs, onAttach }: AttachProps) {
  const [isOpen, setOpen] = useState(false);
  const { shown, setSearch } = useSearchedList(agentChoicesQuery, isOpen);
  const choosable = shown?.filter(
    ({ id, status }) => id !== agentId && status !== "archived" && !subs.some((sub) => sub.id === id),
  );
  return (
    <AddMenu
      label={say("subAgent")}
      find={say("findAgent")}
      choices={choosable?.map(({ id, name, description }) => ({ id, name, note: description }))}
      none={say("noOtherAgents")}
      onOpen={() => setOpen(true)}
      onSearch={setSearch}
      onChoose={(id) => {
        const agent = choosable?.find((one) => one.id === id);
        if (agent) onAttach(agent);
      }}
    />
  );
}

const applyAgentToSub = (sub: SubAgentOfDraft, agent: OwnAgent): SubAgentOfDraft =>
  sub.agent ? { ...sub, name: agent.name, agent: { ...sub.agent, ...agent } } : sub;

/** The server fills in the rest of its configuration, and gives it an id. */
const createOwnAgent = (agent: OwnAgent): SubAgentOfDraft => ({
  id: `new_${crypto.randomUUID?.() ?? Math.random()}`,
  name: agent.name,
  relationship_type: "direct",
  is_enabled: true,
  delegation_prompt: "",
  agent: agent as SubAgentOfDraft["agent"],
});

const createSubAgent = ({ id, name }: { id: string; name: string }): SubAgentOfDraft => ({
  id,
  name,
  relationship_type: "template",
  is_enabled: true,
  delegation_prompt: "",
  agent: null,
});

type RowProps = {
  sub: SubAgentOfDraft;
  isReadOnly: boolean;
  onEdit: () => void;
  onChange: (change: Partial<SubAgentOfDraft>) => void;
};

function SubAgentRow({ sub, isReadOnly, onEdit, onChange }: RowProps) {
  const isOwn = sub.relationship_type === "direct";
  return (
    <>
      <AgentMark id={sub.id} size={22} />
      {isOwn ? (
        <span className={`row g8 grow ${style.own}`}>
          {isReadOnly ? (
            <span className={`t-500 cut ${style.name}`}>{sub.name}</span>
          ) : (
            <button
              type="button"
              className={`t-500 cut ${style.name} ${style.edit}`}
              aria-label={say("editOwn", { name: sub.name })}
              onClick={onEdit}
            >
              {sub.name}
            </button>
          )}
          <StatusPill>{say("ownSubAgent")}</StatusPill>
        </span>
      ) : (
        <Link className={`t-500 cut grow ${style.name}`} to="/agents/$agentId" params={{ agentId: sub.id }}>
          {sub.name}
        </Link>
      )}
      <Switch
        aria-label={say("enableNamed", { name: sub.name })}
        disabled={isReadOnly}
        checked={sub.is_enabled}
        onChange={(event) => onChange({ is_enabled: event.currentTarget.checked })}
      />
    </>
  );
}
