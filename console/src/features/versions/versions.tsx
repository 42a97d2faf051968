import { Button, Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import type { components } from "../../api/schema";
import { AgentPage } from "../../shared/agent/agent_page";
import { PublishReview } from "../../shared/agent/publish_review";
import { UnpublishedNote } from "../../shared/agent/unpublished";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { usePersonName } from "../../shared/people/names";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { describeVersionChanges } from "../../shared/versions/changes";
import { VersionDiff } from "../../shared/versions/diff";
import { useReferencedNames } from "../../shared/versions/names";
import {
  draftQuery,
  type Version,
  type VersionName,
  versionDiffQuery,
  versionsQuery,
} from "../../shared/versions/queries";
import { translateSummary } from "../../shared/versions/summary";
import { RestoreDialog, RestoreWarnings } from "./restore";
import style from "./versions.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/versions");
type Agent = components["schemas"]["AgentDetail"];

function VersionAuthor({ id, at }: { id: string; at: string }) {
  const name = usePersonName(id);
  return (
    <span className="t-12 t-3" title={formatExactTime(at)}>
      {name} · {formatTimeSince(at)}
    </span>
  );
}

type VersionLinkProps = {
  agentId: string;
  version: VersionName;
  isChosen: boolean;
  /** The class of the knot on the line that joins the versions. */
  knot?: string;
  children: ReactNode;
};

const VersionLink = ({ agentId, version, isChosen, knot = "", children }: VersionLinkProps) => (
  <li>
    <Link
      className={style.row}
      to="/agents/$agentId/versions"
      params={{ agentId }}
      search={{ version }}
      aria-current={isChosen ? "true" : undefined}
    >
      <span className={`${style.knot} ${knot}`} aria-hidden />
      <span className="stack g4 grow">{children}</span>
    </Link>
  </li>
);

type VersionRowProps = { agentId: string; version: Version; isChosen: boolean; isNow: boolean };

function VersionRow({ agentId, version, isChosen, isNow }: VersionRowProps) {
  return (
    <VersionLink
      agentId={agentId}
      version={version.version}
      isChosen={isChosen}
      knot={version.published ? style.published : undefined}
    >
      <span className="row g6">
        <span className="t-500 num">v{version.version}</span>
        {isNow && <StatusPill tone="run">{say("now")}</StatusPill>}
        {version.published && <StatusPill tone="ok">{say("published")}</StatusPill>}
      </span>
      <span className={style.summary}>{translateSummary(version.summary)}</span>
      <VersionAuthor id={version.created_by} at={version.created_at} />
    </VersionLink>
  );
}

function DraftRow({ agentId, isChosen }: { agentId: string; isChosen: boolean }) {
  const { data: draft } = useQuery(draftQuery(agentId));
  if (!draft?.is_stored) return null;
  return (
    <VersionLink agentId={agentId} version="draft" isChosen={isChosen} knot={style.draft}>
      <span className="row g6">
        <span className="t-500">{say("draft")}</span>
        <StatusPill tone="warn">{say("notPublished")}</StatusPill>
      </span>
      <span className={style.summary}>{say("basedOn", { version: `v${draft.based_on}` })}</span>
      {draft.updated_at && <VersionAuthor id={draft.updated_by ?? ""} at={draft.updated_at} />}
    </VersionLink>
  );
}

type Shown = { agent: Agent; version: VersionName; against?: VersionName; known: number[] };

function VersionChanges({ agent, version, against, known }: Shown) {
  const navigate = useNavigate();
  // Nothing came before the first version: it is compared only if somebody chooses with what.
  const before = against ?? (version === "draft" ? agent.version : version > 1 ? version - 1 : undefined);
  const { data, error, refetch } = useQuery({
    ...versionDiffQuery(agent.id, version, before ?? version),
    enabled: before !== undefined,
  });
  const names = useReferencedNames(agent.id, agent);
  const chooseComparedVersion = (value: string | null) =>
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
          onChange={chooseComparedVersion}
          allowDeselect={false}
        />
      </div>
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {before === undefined ? (
        <p className="t-13 t-2">{say("firstText")}</p>
      ) : data ? (
        <VersionDiff changes={describeVersionChanges(data, names)} />
      ) : (
        !error && <RowSkeletons rows={4} columns={[30, 300]} />
      )}
    </>
  );
}

function VersionActions({
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
  const finishRestore = (warnings: string[]) => {
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
        <PublishReview agentId={agent.id} onClose={() => setOpen(false)} onPublished={finishRestore} />
      )}
      {isOpen && version !== "draft" && (
        <RestoreDialog agentId={agent.id} version={version} onClose={() => setOpen(false)} onRestored={finishRestore} />
      )}
    </div>
  );
}

function VersionThread({ agent }: { agent: Agent }) {
  const search = useSearch({ from: "/frame/agents/$agentId/versions" });
  const may = usePermissionCheck();
  const [warnings, setWarnings] = useState<string[]>([]);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    versionsQuery(agent.id),
  );
  const versions = data?.pages.flatMap((page) => page.data) ?? [];
  const version = search.version ?? agent.version;
  if (error) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!data) return <RowSkeletons columns={[30, 300]} />;
  return (
    <div className={style.split}>
      <nav className={style.thread} aria-label={say("title")}>
        <ol>
          <DraftRow agentId={agent.id} isChosen={version === "draft"} />
          {versions.map((one) => (
            <VersionRow
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
        <UnpublishedNote agent={agent} />
        <RestoreWarnings warnings={warnings} />
        <VersionChanges
          agent={agent}
          version={version}
          against={search.against}
          known={versions.map((one) => one.version)}
        />
        {may("agents:write") && <VersionActions agent={agent} version={version} onWarnings={setWarnings} />}
      </section>
    </div>
  );
}

export default function VersionsPage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/versions" });
  return (
    <AgentPage agentId={agentId} tab="versions">
      {(agent) => <VersionThread agent={agent as Agent} />}
    </AgentPage>
  );
}
