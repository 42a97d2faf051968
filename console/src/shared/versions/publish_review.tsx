import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { announcePublished } from "../agent/published";
import { agentQuery } from "../agent/queries";
import { createTranslator } from "../i18n/words";
import { usePersonName } from "../people/names";
import { FailureState, RowSkeletons } from "../states/states";
import { describeVersionChanges } from "./changes";
import { VersionDiff } from "./diff";
import { useReferencedNames } from "./names";
import { draftQuery, publishDraft, statusQuery, versionDiffQuery } from "./queries";
import style from "./versions.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/versions");

export type PublishReviewProps = { agentId: string; onClose: () => void; onPublished: (warnings: string[]) => void };

function PublishConflict({ by }: { by: string }) {
  const name = usePersonName(by);
  return (
    <div className="note warn" role="alert">
      <span>{say("conflict", { name })}</span>
    </div>
  );
}

function usePublishReview(agentId: string) {
  const agent = useQuery(agentQuery(agentId));
  const draft = useQuery({ ...draftQuery(agentId), staleTime: 0 });
  const diff = useQuery({ ...versionDiffQuery(agentId, "draft"), staleTime: 0 });
  const status = useQuery(statusQuery(agentId));
  return { agent, draft, diff, status, error: agent.error ?? draft.error ?? diff.error };
}

/** What publishing the draft would change, a note for the others, and the button that does it. */
export default function PublishReview({ agentId, onClose, onPublished }: PublishReviewProps) {
  const client = useQueryClient();
  const { agent, draft, diff, status, error } = usePublishReview(agentId);
  const [note, setNote] = useState("");
  const names = useReferencedNames(agentId, agent.data);
  const publishing = useMutation({
    mutationFn: (force: boolean) => publishDraft(agentId, { note, force }),
    onSuccess: async (published) => {
      await client.invalidateQueries({ queryKey: ["agents"] });
      announcePublished(published);
      onPublished(published.warnings ?? []);
    },
  });
  const version = (agent.data?.version ?? 0) + 1;
  const failure = publishing.error && asApiError(publishing.error);
  const isConflict = failure?.code === "version_conflict";
  const open = status.data?.active_conversations ?? 0;
  const changes = diff.data && describeVersionChanges(diff.data, names);
  const title = agent.data ? say("publishTitle", { name: agent.data.name, version: `v${version}` }) : say("publish");
  return (
    <Modal opened onClose={onClose} title={title} size={620}>
      {error ? (
        <FailureState error={error} onRetry={() => void Promise.all([draft.refetch(), diff.refetch()])} />
      ) : !changes || !agent.data || !draft.data ? (
        <RowSkeletons rows={3} columns={[30, 300]} />
      ) : (
        <form
          className="stack g12"
          onSubmit={(event) => {
            event.preventDefault();
            publishing.mutate(isConflict);
          }}
        >
          <VersionDiff changes={changes} />
          <TextInput
            label={say("note")}
            placeholder={say("notePlaceholder")}
            maxLength={1000}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
            data-autofocus
          />
          {isConflict && <PublishConflict by={String(failure.details.updated_by ?? "")} />}
          {failure && !isConflict && (
            <div className="note bad" role="alert">
              <span>{failure.message}</span>
            </div>
          )}
          <div className={style.foot}>
            <span className="t-3 t-12">
              {open ? say("open", { count: open, version: `v${version}` }) : say("noneOpen")}
            </span>
            <Button variant="default" onClick={onClose}>
              {say("notYet")}
            </Button>
            <Button type="submit" loading={publishing.isPending} disabled={!draft.data.is_stored}>
              {isConflict ? say("publishAnyway") : say("publishVersion", { version: `v${version}` })}
            </Button>
          </div>
        </form>
      )}
    </Modal>
  );
}
