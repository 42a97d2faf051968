import { Button, Modal, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../shared/submit_handler";
import { useFieldProblems } from "../../shared/use_fields";
import { createTable, useTableChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/tables");
const FIRST_COLUMN = "name";

/** A new table: its name is enough, columns are added in the grid. */
export function NewTableDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const create = useTableChange(createTable);
  const { form, rest, problemOf } = useFieldProblems(create.error, ["name", "description"]);
  const submit = createSubmitHandler(async () => {
    const made = await create.mutateAsync({
      name: name.trim(),
      description: description.trim(),
      columns: [{ name: FIRST_COLUMN, type: "text", required: false, unique: false, indexed: false }],
    });
    await navigate({ to: "/tables/$tableId", params: { tableId: made.id } });
  });
  return (
    <Modal opened onClose={onClose} title={say("newTitle")} size={440}>
      <form className="stack g16" ref={form} onSubmit={submit}>
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("name")}
          data-autofocus
          withAsterisk
          error={problemOf("name")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          label={say("description")}
          description={say("descriptionHint")}
          autosize
          minRows={1}
          maxRows={4}
          error={problemOf("description")}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!name.trim()}>
            {say("create")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
