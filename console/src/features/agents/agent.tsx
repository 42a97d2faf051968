import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, memo, Suspense, useCallback, useDeferredValue } from "react";
import { usePermissionCheck } from "../../api/queries";
import { AgentPage } from "../../shared/agent/agent_page";
import { agentQuery } from "../../shared/agent/queries";
import { useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { listChangedFields, liveSnapshotQuery } from "./draft/draft";
import { DraftForm } from "./draft/form";
import { DraftActions } from "./draft/saving/actions";
import { SaveTroubleNote } from "./draft/saving/save_state";
import style from "./draft/saving/save_state.module.css";
import { type DraftEditing, useAgentDraft } from "./draft/saving/use_draft";
import { SplitPane } from "./draft/split";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");
/** Talking comes after reading: the form stands before what shows replies has arrived. */
const Playground = lazy(() =>
  import("../../shared/chat/playground").then((found) => ({ default: memo(found.ChatPlayground) })),
);

export default function BuildPage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId" });
  // Another agent is another page: nothing typed for one may reach the other.
  return <AgentBuilder key={agentId} agentId={agentId} />;
}

/** What production runs, and how many fields of the draft differ from it. */
function useChangedFields(agentId: string, { snapshot }: DraftEditing) {
  const { data: agent } = useQuery(agentQuery(agentId));
  const live = useQuery({ ...liveSnapshotQuery(agentId, agent?.version ?? 0), enabled: Boolean(agent) });
  const count = snapshot ? listChangedFields(live.data, snapshot).length : 0;
  return { live: live.data, version: agent?.version, count };
}

const ChangeCount = ({ count }: { count: number }) => (
  <StatusPill tone="warn">
    <span className={style.pillLong}>{say("changes", { count })}</span>
    <span className={style.pillShort}>{say("changesShort", { count })}</span>
  </StatusPill>
);

function AgentBuilder({ agentId }: { agentId: string }) {
  const { from } = useSearch({ from: "/frame/agents/$agentId" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const editing = useAgentDraft(agentId);
  const changes = useChangedFields(agentId, editing);
  const canWrite = may("agents:write");
  const hasPlayground = useDeferredValue(true, false);
  const { save } = editing.saver;
  useShortcutKeys(canWrite ? { "mod+s": () => void save().catch(() => undefined) } : {});
  const beforeSend = useCallback(async () => {
    if (canWrite) await save();
    // The conversation has begun: a reload restores it and not the one it came from.
    if (from) await navigate({ to: "/agents/$agentId", params: { agentId }, search: {}, replace: true });
  }, [save, canWrite, from, navigate, agentId]);
  return (
    <AgentPage
      agentId={agentId}
      tab="build"
      after={changes.count > 0 && <ChangeCount count={changes.count} />}
      actions={<DraftActions agentId={agentId} editing={editing} changeCount={changes.count} />}
    >
      {() => (
        <>
          <SaveTroubleNote agentId={agentId} editing={editing} />
          <SplitPane
            left={
              editing.snapshot ? (
                <DraftForm agentId={agentId} editing={editing} live={changes.live} version={changes.version} />
              ) : editing.query.error ? (
                <FailureState error={editing.query.error} onRetry={() => void editing.query.refetch()} />
              ) : (
                <RowSkeletons columns={[30, 300]} />
              )
            }
            right={
              hasPlayground && (
                <Suspense fallback={null}>
                  <Playground
                    agentId={agentId}
                    version={canWrite ? "draft" : changes.version}
                    from={from}
                    beforeSend={beforeSend}
                  />
                </Suspense>
              )
            }
          />
        </>
      )}
    </AgentPage>
  );
}
