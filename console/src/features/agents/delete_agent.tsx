import { asApiError } from "../../api/errors";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { createTranslator } from "../../shared/i18n/words";
import { type Agent, deleteAgent, useAgentChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");

export function DeleteAgentDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const remove = useAgentChange(deleteAgent);
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: agent.name })}
      name={agent.name}
      label={say("typeName")}
      action={say("delete")}
      problem={remove.error ? asApiError(remove.error).message : undefined}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutateAsync(agent.id)}
      onClose={onClose}
    >
      {say("deleteText")}
    </ConfirmByNameDialog>
  );
}
