import { Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { general } from "../i18n/general";
import { createTranslator } from "../i18n/words";
import { ProblemNote } from "../patterns/refusal_note";
import { useFieldProblems } from "../use_fields";
import { renameConversation, useConversationChange } from "./changes";
import en from "./words.en.json";

const say = createTranslator(en, "shared/conversations");
const MAX_TITLE_LENGTH = 200;

type Props = { conversation: { id: string; title: string }; onRenamed?: (title: string) => void; onClose: () => void };

export function RenameDialog({ conversation, onRenamed, onClose }: Props) {
  const [title, setTitle] = useState(conversation.title);
  const rename = useConversationChange(renameConversation);
  const { form, rest, problemOf } = useFieldProblems(rename.error, ["title"]);
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate(
      { id: conversation.id, title: title.trim() },
      {
        onSuccess: (renamed) => {
          onRenamed?.(renamed.title);
          onClose();
        },
      },
    );
  };
  return (
    <Modal opened onClose={onClose} title={say("renameTitle")} size={440}>
      <form className="stack g16" ref={form} onSubmit={handleSubmit}>
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("titleLabel")}
          error={problemOf("title")}
          maxLength={MAX_TITLE_LENGTH}
          data-autofocus
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <div className="row g8 wrap">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={rename.isPending} disabled={!title.trim()}>
            {say("rename")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
