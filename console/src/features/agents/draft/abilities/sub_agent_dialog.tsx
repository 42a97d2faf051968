import { Button, Modal, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../../../shared/i18n/words";
import { chatModelsQuery } from "../../../../shared/providers/queries";
import en from "../../words.en.json";
import type { SubAgentOfDraft } from "../draft";
import style from "../draft.module.css";
import { groupModels } from "../models";

const say = createTranslator(en, "features/agents");
const MAX_NAME_LENGTH = 200;
const MAX_PROMPT_LENGTH = 32_000;

export type OwnAgent = Pick<NonNullable<SubAgentOfDraft["agent"]>, "name" | "primary_model" | "system_prompt">;
type Props = { edited?: OwnAgent; model: string; onDone: (agent: OwnAgent) => void; onClose: () => void };

/** An agent that works for this one alone: what it is called, which model it has and what it is told. */
export default function SubAgentDialog({ edited, model, onDone, onClose }: Props) {
  const { data: models = [] } = useQuery(chatModelsQuery);
  const [agent, setAgent] = useState<OwnAgent>(edited ?? { name: "", primary_model: model, system_prompt: "" });
  const changeAgent = (change: Partial<OwnAgent>) => setAgent({ ...agent, ...change });
  const isComplete = Boolean(agent.name.trim() && agent.system_prompt.trim());
  return (
    <Modal opened onClose={onClose} size={560} title={edited ? say("editOwn", { name: edited.name }) : say("newOwn")}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) onDone({ ...agent, name: agent.name.trim() });
        }}
      >
        {!edited && <p className="t-2 t-13">{say("ownText")}</p>}
        <TextInput
          label={say("name")}
          maxLength={MAX_NAME_LENGTH}
          value={agent.name}
          data-autofocus
          onChange={(event) => changeAgent({ name: event.currentTarget.value })}
        />
        <Select
          label={say("model")}
          searchable
          allowDeselect={false}
          classNames={{ option: style.option }}
          data={groupModels(models, agent.primary_model)}
          value={agent.primary_model}
          nothingFoundMessage={say("noMatchTitle")}
          onChange={(id) => id && changeAgent({ primary_model: id })}
        />
        <Textarea
          label={say("instructions")}
          autosize
          minRows={6}
          maxRows={16}
          maxLength={MAX_PROMPT_LENGTH}
          value={agent.system_prompt}
          onChange={(event) => changeAgent({ system_prompt: event.currentTarget.value })}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button type="submit" disabled={!isComplete}>
            {say(edited ? "apply" : "add")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
