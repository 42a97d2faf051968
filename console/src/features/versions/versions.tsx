import { Button, Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useMay } from "../../api/queries";
import type { components } from "../../api/schema";
import { AgentPage } from "../../shared/agent/agent_page";
import { PublishReview } from "../../shared/agent/publish_review";
import { Unpublished } from "../../shared/agent/unpublished";
import { words } from "../../shared/i18n/words";
import { Pill } from "../../shared/marks/status";
import { Failure, RowsLoading } from "../../shared/states/states";
import { exactTime, timeSince } from "../../shared/time";
import { versionChanges } from "../../shared/versions/changes";
import { Diff } from "../../shared/versions/diff";
import { useNames } from "../../shared/versions/names";
import {
  diffQuery,
  draftQuery,
  usePersonName,
  type Version,
  type VersionName,
  versionsQuery,
} from "../../shared/versions/queries";
import { summaryWords } from "../../shared/versions/summary";
import { RestoreDialog, Warnings } from "./restore";
import style from "./versions.module.css";
import en from "./words.en.json";

const say = words(en, "features/versions");
type Agent = components["schemas"]["AgentDetail"];

function Who({ id, at }: { id: string; at: string }) {
  const name = usePersonName(id);
  return (
    <span className="t-12 t-3" title={exactTime(at)}>
      {name} · {timeSince(at)}
    </span>
  );
}

function Row({
  agentId,
  version,
  isChosen,
  isNow,
}: {
  agentId: string;
  version: Version;
  isChosen: boolean;
  isNow: boolean;
}) {
  return (
    <li>
      <Link
        className={style.row}
        to="/agents/$agentId/versions"
        params={{ agentId }}
        search={{ version: version.version }}
        aria-current={isChosen ? "true" : undefined}
      >
        <span className={`${style.knot} ${version.published ? style.published : ""}`} aria-hidden />
        <span className="stack g4 grow">
          <span className="row g6">
            <span className="t-500 num">v{version.version}</span>
            {isNow && <Pill tone="run">{say("now")}</Pill>}
            {version.published && <Pill tone="ok">{say("published")}</Pill>}
          </span>
          <span className={style.summary}>{summaryWords(version.summary)}</span>
          <Who id={version.created_by} at={version.created_at} />
        </span>
      </Link>
    </li>
  );
}

function DraftRow({ agentId, isChosen }: { agentId: string; isChosen: boolean }) {
  const { data: draft } = useQuery(draftQuery(agentId));
  if (!draft?.is_stored) return null;
  return (
    <li>
      <Link
        className={style.row}
        to="/agents/$agentId/versions"
        params={{ agentId }}
        search={{ version: "draft" }}
        aria-current={isChosen ? "true" : undefined}
      >
        <span className={`${style.knot} ${style.draft}`} aria-hidden />
        <span className="stack g4 grow">
          <span className="row g6">
            <span className="t-500">{say("draft")}</span>
            <Pill tone="warn">{say("notPublished")}</Pill>
          </span>
          <span className={style.summary}>{say("basedOn", { version: `v${draft.based_on}` })}</span>
          {draft.updated_at && <Who id={draft.updated_by ?? ""} at={draft.updated_at} />}
        </span>
      </Link>
    </li>
  );
}

type Shown = { agent: Agent; version: VersionName; against?: VersionName; known: number[] };

function Changes({ agent, version, against, known }: Shown) {
  const navigate = useNavigate();
  // Nothing came before the first version: it is compared only if somebody chooses with what.
  const before = against ?? (version === "draft" ? agent.version : version > 1 ? version - 1 : undefined);
  const { data, error, refetch } = useQuery({
    ...diffQuery(agent.id, version, before ?? version),
    enabled: before !== undefined,
  });
  const names = useNames(agent.id, agent);
  const choose = (value: string | null) =>
    void navigate({
      to: "/agents/$agentId/versions",
      params: { agentId: agent.id },
      search: { version, ...(value ? { against: value === "draft" ? value : Number(value) } : {}) },
      replace: true,
    });
  return (
    <>
      <div className={style.head}>
        <h2 className="t-sec grow">{version === "draft" ? say("draft") : `v${version}`}</h2>
        <Select
          aria-label={say("against")}
          w={190}
          placeholder={say("firstVersion")}
          data={known
            .filter((one) => one !== version)
            .map((one) => ({ value: String(one), label: say("comparedWith", { version: `v${one}` }) }))}
          value={before === undefined ? null : String(before)}
          onChange={choose}
          allowDeselect={false}
        />
      </div>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {before === undefined ? (
        <p className="t-13 t-2">{say("firstText")}</p>
      ) : data ? (
        <Diff changes={versionChanges(data, names)} />
      ) : (
        !error && <RowsLoading rows={4} columns={[30, 300]} />
      )}
    </>
  );
}

function Actions({
  agent,
  version,
  onWarnings,
}: {
  agent: Agent;
  version: VersionName;
  onWarnings: (all: string[]) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const done = (warnings: string[]) => {
    setOpen(false);
    onWarnings(warnings);
    void navigate({ to: "/agents/$agentId/versions", params: { agentId: agent.id }, search: {} });
  };
  if (version === agent.version) return null;
  return (
    <div className="row">
      <Button variant={version === "draft" ? "filled" : "default"} onClick={() => setOpen(true)}>
        {version === "draft" ? say("review") : say("restore", { version: `v${version}` })}
      </Button>
      {isOpen && version === "draft" && (
        <PublishReview agentId={agent.id} onClose={() => setOpen(false)} onPublished={done} />
      )}
      {isOpen && version !== "draft" && (
        <RestoreDialog agentId={agent.id} version={version} onClose={() => setOpen(false)} onRestored={done} />
      )}
    </div>
  );
}

function Thread({ agent }: { agent: Agent }) {
  const search = useSearch({ from: "/frame/agents/$agentId/versions" });
  const may = useMay();
  const [warnings, setWarnings] = useState<string[]>([]);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    versionsQuery(agent.id),
  );
  const versions = data?.pages.flatMap((page) => page.data) ?? [];
  const version = search.version ?? agent.version;
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <RowsLoading columns={[30, 300]} />;
  return (
    <div className={style.split}>
      <nav className={style.thread} aria-label={say("title")}>
        <ol>
          <DraftRow agentId={agent.id} isChosen={version === "draft"} />
          {versions.map((one) => (
            <Row
              key={one.version}
              agentId={agent.id}
              version={one}
              isChosen={one.version === version}
              isNow={one.version === agent.version}
            />
          ))}
        </ol>
        {hasNextPage && (
          <Button variant="subtle" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {say("older")}
          </Button>
        )}
      </nav>
      <section className={style.detail} aria-label={say("changes")}>
        <Unpublished agent={agent} />
        <Warnings of={warnings} />
        <Changes agent={agent} version={version} against={search.against} known={versions.map((one) => one.version)} />
        {may("agents:write") && <Actions agent={agent} version={version} onWarnings={setWarnings} />}
      </section>
    </div>
  );
}

export default function VersionsPage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/versions" });
  return (
    <AgentPage agentId={agentId} tab="versions">
      {(agent) => <Thread agent={agent as Agent} />}
    </AgentPage>
  );
}
