import { Button, Modal, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import { createTranslator } from "../i18n/words";
import { RefusalNote } from "../patterns/refusal_note";
import { announcePublished } from "./published";
import en from "./words.en.json";

const say = createTranslator(en, "shared/agent");
type Props = { agentId: string; onClose: () => void; onPublished: () => void };

/** Publishes an agent for the first time as it is: there is no draft whose changes could be reviewed. */
export default function PublishDialog({ agentId, onClose, onPublished }: Props) {
  const [note, setNote] = useState("");
  const publish = useMutation({
    mutationFn: () =>
      unwrapData(
        api.POST("/api/v1/agents/{agent_id}/publish", {
          params: { path: { agent_id: agentId } },
          body: note.trim() ? { note: note.trim() } : {},
        }),
      ),
    onSuccess: (published) => {
      announcePublished(published);
      onPublished();
    },
  });
  return (
    <Modal opened onClose={onClose} title={say("publishTitle")} size={460}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          publish.mutate();
        }}
      >
        <RefusalNote error={publish.error} />
        <p className="t-2">{say("publishText")}</p>
        <Textarea
          label={say("publishNote")}
          maxLength={1000}
          autosize
          minRows={2}
          maxRows={6}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button type="submit" loading={publish.isPending} data-autofocus>
            {say("publish")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
