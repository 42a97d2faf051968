import { Button, Modal, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { useFieldProblems } from "../../shared/use_fields";
import { expiryDayOf, expiryOfDay } from "./expiry_day";
import { type Credential, updateCredential, useCredentialChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");

/** Change what is no secret: name, description, expiry. */
export function ChangeDialog({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const [name, setName] = useState(credential.name);
  const [description, setDescription] = useState(credential.description);
  const [lastDay, setLastDay] = useState(expiryDayOf(credential.expires_at));
  const change = useCredentialChange(updateCredential);
  const { form, rest, problemOf } = useFieldProblems(change.error, ["name", "description", "expires_at"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isSameDay = lastDay === expiryDayOf(credential.expires_at);
    const expiry = lastDay ? expiryOfDay(lastDay) : null;
    change.mutate(
      { id: credential.id, name: name.trim(), description, ...(isSameDay ? {} : { expires_at: expiry }) },
      { onSuccess: onClose },
    );
  };
  return (
    <Modal opened onClose={onClose} title={say("changeTitle", { name: credential.name })} size={440}>
      <form className="stack g16" ref={form} onSubmit={submit}>
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("name")}
          data-autofocus
          error={problemOf("name")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          label={say("description")}
          autosize
          minRows={2}
          error={problemOf("description")}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={say("expiresAt")}
          description={say("expiresHint")}
          error={problemOf("expires_at")}
          value={lastDay}
          onChange={(event) => setLastDay(event.currentTarget.value)}
        />
        <Button type="submit" className="push" loading={change.isPending} disabled={!name.trim()}>
          {say("save")}
        </Button>
      </form>
    </Modal>
  );
}
