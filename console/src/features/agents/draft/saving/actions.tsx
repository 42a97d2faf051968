import { Button, Menu, Tooltip } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { usePermissionCheck } from "../../../../api/queries";
import { ActionsMenu } from "../../../../shared/actions_menu";
import { PublishReview } from "../../../../shared/agent/publish_review";
import { agentQuery } from "../../../../shared/agent/queries";
import { createTranslator } from "../../../../shared/i18n/words";
import { useMissingAccessHint } from "../../../../shared/states/access";
import en from "../../words.en.json";
import { SaveStateLabel } from "./save_state";
import type { DraftEditing } from "./use_draft";

const say = createTranslator(en, "features/agents");
const PublishDialog = lazy(() => import("../../../../shared/agent/publish_dialog"));
const DiscardDialog = lazy(() => import("./discard").then((found) => ({ default: found.DiscardDialog })));
type Props = { agentId: string; editing: DraftEditing; changeCount: number };

/** What can be done with a draft: look at what it changes, publish it, throw it away. */
export function DraftActions({ agentId, editing, changeCount }: Props) {
  const may = usePermissionCheck();
  const client = useQueryClient();
  const { data: agent } = useQuery(agentQuery(agentId));
  const [dialog, setDialog] = useState<"publish" | "discard">();
  const canWrite = may("agents:write");
  const isNew = agent?.status === "draft";
  const needs = useMissingAccessHint("agents:write");
  const why = !canWrite
    ? needs
    : agent?.status === "archived"
      ? say("archivedWhy")
      : changeCount === 0 && !isNew
        ? say("nothingToPublish")
        : editing.problem && `${say("schemaNotSaved")}. ${editing.problem}`;
  const reviewDraft = async () => {
    // Which of the two texts is published is the person's choice.
    if (editing.state === "conflict") return editing.conflictNote.current?.focus();
    await editing.saver.save();
    setDialog("publish");
  };
  const finishPublishing = async () => {
    setDialog(undefined);
    await client.invalidateQueries({ queryKey: ["agents"] });
  };
  return (
    <>
      <SaveStateLabel editing={editing} />
      <Tooltip label={why} disabled={!why}>
        <Button
          data-disabled={why ? true : undefined}
          aria-disabled={Boolean(why)}
          aria-description={why}
          onClick={() => !why && void reviewDraft().catch(() => undefined)}
        >
          {say("publish")}
        </Button>
      </Tooltip>
      <MoreMenu agentId={agentId} canDiscard={canWrite && changeCount > 0} onDiscard={() => setDialog("discard")} />
      <Suspense fallback={null}>
        {dialog === "publish" &&
          (editing.stored?.is_stored ? (
            <PublishReview
              agentId={agentId}
              onClose={() => setDialog(undefined)}
              onPublished={() => void finishPublishing()}
            />
          ) : (
            <PublishDialog
              agentId={agentId}
              onClose={() => setDialog(undefined)}
              onPublished={() => void finishPublishing()}
            />
          ))}
        {dialog === "discard" && <DiscardDialog editing={editing} onClose={() => setDialog(undefined)} />}
      </Suspense>
    </>
  );
}

function MoreMenu({ agentId, canDiscard, onDiscard }: { agentId: string; canDiscard: boolean; onDiscard: () => void }) {
  const may = usePermissionCheck();
  const navigate = useNavigate();
  return (
    <ActionsMenu label={say("more")}>
      {may("conversations:read") && (
        <Menu.Item onClick={() => void navigate({ to: "/conversations", search: { agent: agentId } })}>
          {say("conversations")}
        </Menu.Item>
      )}
      <Menu.Item onClick={() => void navigator.clipboard?.writeText(agentId)}>{say("copyId")}</Menu.Item>
      {canDiscard && (
        <Menu.Item color="red" onClick={onDiscard}>
          {say("discard")}
        </Menu.Item>
      )}
    </ActionsMenu>
  );
}
