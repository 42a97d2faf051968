import { Button, Modal, TextInput } from "@mantine/core";
import { useState } from "react";
import { words } from "../../shared/i18n/words";
import { type Agent, deleteAgent, useAgentChange } from "./queries";
import { RefusalNote } from "./refusal_note";
import en from "./words.en.json";

const say = words(en, "features/agents");

export function DeleteAgent({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const remove = useAgentChange(deleteAgent);
  return (
    <Modal opened onClose={onClose} title={say("deleteTitle", { name: agent.name })} size={440}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void remove.mutateAsync(agent.id).then(onClose, () => undefined);
        }}
      >
        {remove.error && <RefusalNote error={remove.error} />}
        <p className="t-2">{say("deleteText")}</p>
        <TextInput
          label={say("typeName")}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
          autoComplete="off"
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button type="submit" color="red" loading={remove.isPending} disabled={typed !== agent.name}>
            {say("delete")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
