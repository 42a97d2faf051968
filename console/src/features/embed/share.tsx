import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { asApiError } from "../../api/errors";
import { useMay } from "../../api/queries";
import type { components } from "../../api/schema";
import { AgentPage } from "../../shared/agent/agent_page";
import { Unpublished } from "../../shared/agent/unpublished";
import { words } from "../../shared/i18n/words";
import { useNeeds } from "../../shared/states/access";
import { Failure, RowsLoading } from "../../shared/states/states";
import { Designer } from "./designer";
import { Installed } from "./installed";
import { EmbedKeys } from "./keys";
import { Preview } from "./preview";
import { type Settings, saveSettings, settingsQuery, useEmbedChange } from "./queries";
import style from "./share.module.css";
import { Snippets } from "./snippets";
import { suggestionProblem } from "./suggestions";
import en from "./words.en.json";

const say = words(en, "features/embed");

export default function SharePage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/share" });
  return (
    <AgentPage agentId={agentId} tab="share">
      {(agent) => <Share shared={agent} />}
    </AgentPage>
  );
}

function Share({ shared }: { shared: components["schemas"]["AgentOut"] }) {
  const { id, name } = shared;
  const may = useMay();
  const needs = useNeeds("agents:write");
  const stored = useQuery(settingsQuery(id));
  const [draft, setDraft] = useState<Settings>();
  const [newKey, setNewKey] = useState("");
  const [width, setWidth] = useState("desktop");
  const settings = draft ?? stored.data;
  const agent = useMemo(() => ({ id, name }), [id, name]);
  if (stored.error) return <Failure error={stored.error} onRetry={() => void stored.refetch()} />;
  if (!settings) return <RowsLoading columns={[30, 300]} />;
  return (
    <div className={style.split}>
      <div className={style.side}>
        <Unpublished agent={shared} />
        <section className="stack g16" aria-label={say("look")}>
          <h2 className="t-sec">{say("look")}</h2>
          {!may("agents:write") && <div className="note">{needs}</div>}
          <Designer
            settings={settings}
            isDisabled={!may("agents:write")}
            onChange={(part) => setDraft({ ...settings, ...part })}
          />
          {may("agents:write") && <Save agentId={id} draft={draft} onSaved={() => setDraft(undefined)} />}
        </section>
        {may("embed_keys:read") && <EmbedKeys agentId={id} onNewKey={setNewKey} />}
        <Snippets agentId={id} apiKey={newKey} />
        {may("embed_keys:read") && <Installed agentId={id} />}
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
        <Preview agent={agent} settings={settings} isPhone={width === "phone"} />
      </section>
    </div>
  );
}

function Save({ agentId, draft, onSaved }: { agentId: string; draft: Settings | undefined; onSaved: () => void }) {
  const save = useEmbedChange(agentId, (settings: Settings) => saveSettings(agentId, settings));
  return (
    <div className="stack g8">
      {save.error && (
        <div className="note bad" role="alert">
          {asApiError(save.error).message}
        </div>
      )}
      <div className="row g8">
        <Button
          disabled={!draft || Boolean(suggestionProblem(draft.suggestions ?? []))}
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
