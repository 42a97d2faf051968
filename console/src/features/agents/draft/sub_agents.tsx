import { Switch, Textarea } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { words } from "../../../shared/i18n/words";
import { AgentMark, Pill } from "../../../shared/parts";
import { useFound } from "../found";
import { agentChoicesQuery } from "../queries";
import en from "../words.en.json";
import { AddMenu } from "./add_menu";
import type { Edits, Snapshot, SubAgentOfDraft } from "./draft";
import style from "./draft.module.css";
import { Rows } from "./rows";
import { Section } from "./section";

const say = words(en, "features/agents");
type Props = { agentId: string; draft: Snapshot; isReadOnly: boolean; onChange: (edits: Edits) => void };

/** "Hands on to": the agents that take over part of the work, each with the sentence that says when. */
export function SubAgentSection({ agentId, draft, isReadOnly, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { shown, setSearch } = useFound(agentChoicesQuery, isOpen);
  const subs = draft.sub_agents;
  const set = (next: SubAgentOfDraft[]) => onChange({ sub_agents: next });
  const update = (id: string, change: Partial<SubAgentOfDraft>) =>
    set(subs.map((sub) => (sub.id === id ? { ...sub, ...change } : sub)));
  const isChoosable = ({ id, status }: { id: string; status: string }) =>
    id !== agentId && status !== "archived" && !subs.some((sub) => sub.id === id);
  return (
    <Section
      title={say("handsOn")}
      note={say("subAgentCount", { count: subs.length })}
      action={
        !isReadOnly && (
          <AddMenu
            label={say("subAgent")}
            find={say("findAgent")}
            choices={shown?.filter(isChoosable).map(({ id, name, description }) => ({ id, name, note: description }))}
            none={say("noOtherAgents")}
            onOpen={() => setOpen(true)}
            onSearch={setSearch}
            onChoose={(id) => {
              const agent = shown?.find((one) => one.id === id);
              if (agent) set([...subs, newSubAgent(agent)]);
            }}
          />
        )
      }
    >
      {subs.length === 0 ? (
        <p className={style.none}>{say("noSubAgentsYet")}</p>
      ) : (
        <Rows
          label={say("handsOn")}
          isReadOnly={isReadOnly}
          onRemove={(id) => set(subs.filter((sub) => sub.id !== id))}
          rows={subs.map((sub) => ({
            id: sub.id,
            name: sub.name,
            body: <SubAgentRow sub={sub} isReadOnly={isReadOnly} onChange={(change) => update(sub.id, change)} />,
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
                onChange={(event) => update(sub.id, { delegation_prompt: event.currentTarget.value })}
              />
            ),
          }))}
        />
      )}
    </Section>
  );
}

const newSubAgent = ({ id, name }: { id: string; name: string }): SubAgentOfDraft => ({
  id,
  name,
  relationship_type: "template",
  is_enabled: true,
  delegation_prompt: "",
  agent: null,
});

type RowProps = { sub: SubAgentOfDraft; isReadOnly: boolean; onChange: (change: Partial<SubAgentOfDraft>) => void };

function SubAgentRow({ sub, isReadOnly, onChange }: RowProps) {
  const isOwn = sub.relationship_type === "direct";
  return (
    <>
      <AgentMark id={sub.id} size={22} />
      {isOwn ? (
        <span className="row g8 grow">
          <span className="t-500 cut">{sub.name}</span>
          <Pill>{say("ownSubAgent")}</Pill>
        </span>
      ) : (
        <Link className="t-500 cut grow" to="/agents/$agentId" params={{ agentId: sub.id }}>
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
