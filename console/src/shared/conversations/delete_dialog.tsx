import { ConfirmDialog } from "../confirm";
import { createTranslator } from "../i18n/words";
import { useConversationDeletion } from "./changes";
import en from "./words.en.json";

const say = createTranslator(en, "shared/conversations");

type Props = { conversation: { id: string; title: string }; onDeleted: () => void; onClose: () => void };

export function DeleteConversationDialog({ conversation, onDeleted, onClose }: Props) {
  const remove = useConversationDeletion();
  return (
    <ConfirmDialog
      title={say("deleteTitle", { title: conversation.title || say("untitled") })}
      action={say("delete")}
      error={remove.error}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(conversation.id, { onSuccess: onDeleted })}
      onClose={onClose}
    >
      <p>{say("deleteText")}</p>
    </ConfirmDialog>
  );
}
