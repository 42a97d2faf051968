import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import type { components } from "../../api/schema";
import { AgentPage } from "../../shared/agent/agent_page";
import { UnpublishedNote } from "../../shared/agent/unpublished";
import { createTranslator } from "../../shared/i18n/words";
import { LeaveQuestion } from "../../shared/patterns/leave_question";
import { dropSentEdits } from "../../shared/sent_edits";
import { useMissingAccessHint } from "../../shared/states/access";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { WidgetDesigner } from "./designer";
import { HostedSegment } from "./hosted_segment";
import { InstallationList } from "./installed";
import { EmbedKeyList } from "./keys";
import { PageLook } from "./page_look";
import { WidgetPreview } from "./preview";
import { type Settings, saveWidgetSettings, useEmbedChange, widgetSettingsQuery } from "./queries";
import style from "./share.module.css";
import { SnippetTabs } from "./snippets";
import { findSuggestionProblem } from "./suggestions";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");
const SEGMENTS = ["page", "website", "keys"] as const;
type Segment = (typeof SEGMENTS)[number];

export default function SharePage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/share" });
  return (
    <AgentPage agentId={agentId} tab="share">
      {(agent) => <AgentShare shared={agent} />}
    </AgentPage>
  );
}

/** The look as it is saved, with what was changed since; `draft` is the whole of it if anything was. */
function useDesignEditing(agentId: string) {
  const stored = useQuery(widgetSettingsQuery(agentId));
  const [edits, setEdits] = useState<Partial<Settings>>({});
  // The same object while nothing changes: the preview is told of each new one.
  const settings = useMemo(() => stored.data && { ...stored.data, ...edits }, [stored.data, edits]);
  return {
    stored,
    settings,
    draft: Object.keys(edits).length > 0 ? settings : undefined,
    change: (part: Partial<Settings>) => setEdits((before) => ({ ...before, ...part })),
    dropSaved: () => setEdits((now) => dropSentEdits(now, edits)),
  };
}

function AgentShare({ shared }: { shared: components["schemas"]["AgentOut"] }) {
  const { id, name } = shared;
  const may = usePermissionCheck();
  const needs = useMissingAccessHint("agents:write");
  const { stored, settings, draft, change, dropSaved } = useDesignEditing(id);
  const [newKey, setNewKey] = useState("");
  const [width, setWidth] = useState("desktop");
  const [chosen, setChosen] = useState<Segment>();
  // Not the state's first value: what this person may do can be known a moment later.
  const segment = chosen ?? (may("embed_keys:read") ? "page" : "website");
  const agent = useMemo(() => ({ id, name }), [id, name]);
  if (stored.error) return <FailureState error={stored.error} onRetry={() => void stored.refetch()} />;
  if (!settings) return <RowSkeletons columns={[30, 300]} />;
  const isPage = segment === "page";
  return (
    <div className={style.split}>
      <div className={style.side}>
        <LeaveQuestion hasChanges={Boolean(draft)} />
        <UnpublishedNote agent={shared} />
        <SegmentedControl
          fullWidth
          className={style.segments}
          aria-label={say("where")}
          data={SEGMENTS.filter((name) => name === "website" || may("embed_keys:read")).map((name) => ({
            value: name,
            label: say(name === "page" ? "hostedPage" : name),
          }))}
          value={segment}
          onChange={(name) => setChosen(name as Segment)}
        />
        {isPage && <HostedSegment agentId={id} />}
        {segment !== "keys" && (
          <section className="stack g16" aria-label={say("look")}>
            <div className="row g8">
              <h2 className="t-sec grow">{say("look")}</h2>
              {isPage && <span className="t-12 t-3">{say("alsoWidget")}</span>}
            </div>
            {!may("agents:write") && <div className="note">{needs}</div>}
            <WidgetDesigner settings={settings} isDisabled={!may("agents:write")} onChange={change} />
            {isPage && <PageLook settings={settings} isDisabled={!may("agents:write")} onChange={change} />}
            {may("agents:write") && <SaveDesignButton agentId={id} draft={draft} onSaved={dropSaved} />}
          </section>
        )}
        {!isPage && may("embed_keys:read") && (
          <EmbedKeyList agentId={id} isForWebsites={segment === "website"} onNewKey={setNewKey} />
        )}
        {segment === "website" && <SnippetTabs agentId={id} apiKey={newKey} />}
        {segment === "website" && may("embed_keys:read") && <InstallationList agentId={id} />}
      </div>
      <section className={style.main} aria-label={say("preview")}>
        <div className={style.stageHead}>
          <h2 className="t-sec grow">{say("preview")}</h2>
          <SegmentedControl
            aria-label={say("width")}
            data={[
              { value: "desktop", label: say("desktop") },
              { value: "phone", label: say("phone") },
            ]}
            value={width}
            onChange={setWidth}
          />
        </div>
        <WidgetPreview
          key={isPage ? "page" : "widget"}
          agent={agent}
          settings={settings}
          isPhone={width === "phone"}
          isPage={isPage}
        />
      </section>
    </div>
  );
}

function SaveDesignButton({
  agentId,
  draft,
  onSaved,
}: {
  agentId: string;
  draft: Settings | undefined;
  onSaved: () => void;
}) {
  const save = useEmbedChange(agentId, (settings: Settings) => saveWidgetSettings(agentId, settings));
  return (
    <div className="stack g8">
      {save.error && (
        <div className="note bad" role="alert">
          {asApiError(save.error).message}
        </div>
      )}
      <div className="row g8">
        <Button
          disabled={!draft || Boolean(findSuggestionProblem(draft.suggestions ?? []))}
          loading={save.isPending}
          onClick={() => draft && void save.mutateAsync(draft).then(onSaved, () => undefined)}
        >
          {say("save")}
        </Button>
        <span className="t-12 t-3" role="status">
          {draft ? say("unsaved") : save.isSuccess ? say("saved") : ""}
        </span>
      </div>
    </div>
  );
}
