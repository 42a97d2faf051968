"""Drafts: changes of an agent that are tried and reviewed before they replace what is in use."""

from typing import Literal

import msgspec
import sqlalchemy as sa

from retinue.agents import draft_content, versions
from retinue.agents.draft_schemas import DraftOut, DraftUpdate, Publication
from retinue.agents.errors import DraftNotFound
from retinue.agents.events import AgentDraftDiscarded, AgentDraftEvent, AgentDraftSaved
from retinue.agents.models import Agent, AgentDraft, AgentStatus, AgentVersion
from retinue.agents.queries import lock_agent_graph
from retinue.agents.schemas import Difference, Snapshot
from retinue.agents.service import change, lock_agent
from retinue.agents.snapshots import build_snapshot
from retinue.agents.versions import RestoreResult
from retinue.kit.context import Context
from retinue.kit.db.entity_tags import entity_tag
from retinue.kit.db.statements import record_statement
from retinue.kit.errors import Invalid, VersionConflict
from retinue.kit.json_types import JsonObject

DRAFT: Literal["draft"] = "draft"
_DEFAULT_NOTE = "Published the draft."

_versions = AgentVersion.__table__
_LATER_VERSIONS = record_statement(
    AgentVersion,
    sa.select(_versions)
    .where(
        _versions.c.agent_id == sa.bindparam("agent_id"),
        _versions.c.version > sa.bindparam("based_on"),
        _versions.c.created_by != sa.bindparam("user_id"),
    )
    .order_by(_versions.c.version.desc())
    .limit(1),
)


class DraftOfAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The draft of an agent; without a stored `record`, the agent as it is now."""

    agent: Agent
    record: AgentDraft | None
    snapshot: Snapshot

    @property
    def based_on(self) -> int:
        return self.agent.version if self.record is None else self.record.based_on

    @property
    def etag(self) -> str:
        return entity_tag(self.agent if self.record is None else self.record)


async def load(ctx: Context, agent: Agent) -> DraftOfAgent:
    record = await ctx.db.find(AgentDraft, agent_id=agent.id)
    if record is None:
        return DraftOfAgent(agent=agent, record=None, snapshot=await build_snapshot(ctx, agent))
    # The status is not drafted: publishing decides it.
    stored = msgspec.structs.replace(versions.to_snapshot(record.snapshot), status=agent.status)
    return DraftOfAgent(agent=agent, record=record, snapshot=stored)


async def render_draft(ctx: Context, draft: DraftOfAgent) -> DraftOut:
    agent, record = draft.agent, draft.record
    stored = _to_json(draft.snapshot)
    is_changed = False
    if record is not None:
        now = _to_json(await build_snapshot(ctx, agent))
        is_changed = next(versions.differences(now, stored), None) is not None
    return DraftOut(
        agent_id=agent.id,
        based_on=draft.based_on,
        is_stored=record is not None,
        is_changed=is_changed,
        snapshot=versions.shown_snapshot(ctx, stored),
        updated_at=record.updated_at if record is not None else None,
        updated_by=record.updated_by if record is not None else None,
    )


async def save(
    ctx: Context, agent: Agent, body: DraftUpdate, expected: frozenset[str] | None
) -> DraftOfAgent:
    """Store the draft; the agent stays as it is, and no version is made."""
    draft = await _lock(ctx, agent, expected)
    locked, record = draft.agent, draft.record
    based_on = body.based_on or draft.based_on
    if based_on > locked.version:
        raise Invalid({"based_on": "there is no such version"})
    snapshot = _to_json(await draft_content.merge(ctx, locked, draft.snapshot, body.snapshot))
    saved: JsonObject = {"based_on": based_on, "snapshot": snapshot, "updated_by": ctx.principal.id}
    if record is None:
        await ctx.db.insert(AgentDraft(agent_id=locked.id, created_by=ctx.principal.id, **saved))
    else:
        await ctx.db.update(record, **saved)
    _emit(ctx, AgentDraftSaved, locked, based_on)
    return await load(ctx, locked)


async def discard(ctx: Context, agent: Agent, expected: frozenset[str] | None) -> None:
    """Delete the draft; does nothing if there is none."""
    draft = await _lock(ctx, agent, expected)
    if draft.record is not None:
        await ctx.db.delete(draft.record)
        _emit(ctx, AgentDraftDiscarded, draft.agent, draft.based_on)


async def publish(ctx: Context, agent: Agent, body: Publication) -> RestoreResult:
    """Publish the agent, with its draft if that is asked for; the note becomes the summary of the version."""
    note = (body.note or "").strip()
    if not body.from_draft:
        return RestoreResult(await change(ctx, agent, **_publication(note)), [])
    draft = await _lock(ctx, agent, None)
    if draft.record is None:
        raise DraftNotFound
    if not body.force:
        await _require_unchanged(ctx, draft)
    applied = await versions.apply_snapshot(
        ctx, draft.agent, draft.snapshot, summary=note or _DEFAULT_NOTE, is_publication=True
    )
    await ctx.db.delete(draft.record)
    return applied


def _publication(note: str) -> JsonObject:
    """Return how the agent changes if it is published as it is: a note makes a version of its own."""
    return {"summary": note, "is_publication": True} if note else {"status": AgentStatus.published}


async def compare(
    ctx: Context, agent: Agent, version: str, against: int | Literal["draft"] | None
) -> list[Difference]:
    """Return how a version, or the draft, differs from another one.

    Without `against`, a version is compared with its predecessor, the draft with the agent as it is now.
    """
    if version == DRAFT:
        after = _to_json((await load(ctx, agent)).snapshot)
        before = await _snapshot_of(ctx, agent, against or agent.version)
    else:
        stored = await versions.fetch(ctx, agent, version)
        after = stored.snapshot
        before = await _snapshot_of(ctx, agent, against or max(1, stored.version - 1))
    return versions.compare(ctx, before, after)


async def _snapshot_of(ctx: Context, agent: Agent, version: int | Literal["draft"]) -> JsonObject:
    if version == DRAFT:
        return _to_json((await load(ctx, agent)).snapshot)
    return (await versions.fetch(ctx, agent, version)).snapshot


async def _lock(ctx: Context, agent: Agent, expected: frozenset[str] | None) -> DraftOfAgent:
    """Lock the agent with its draft; raise if the draft is not the version that the caller has seen."""
    await lock_agent_graph(ctx)
    draft = await load(ctx, await lock_agent(ctx, agent.id))
    if expected is not None and draft.etag not in expected:
        record = draft.record
        raise VersionConflict(
            draft.etag,
            updated_at=record.updated_at if record is not None else None,
            updated_by=record.updated_by if record is not None else None,
        )
    return draft


async def _require_unchanged(ctx: Context, draft: DraftOfAgent) -> None:
    """Raise if somebody else has changed the agent since the draft was begun."""
    later = await ctx.db.first(
        _LATER_VERSIONS, agent_id=draft.agent.id, based_on=draft.based_on, user_id=ctx.principal.id
    )
    if later is not None:
        raise VersionConflict(
            entity_tag(draft.agent),
            version=draft.agent.version,
            updated_at=later.created_at,
            updated_by=later.created_by,
        )


def _to_json(snapshot: Snapshot) -> JsonObject:
    """Return the snapshot as it is read from the database, which knows no tuples."""
    stored: JsonObject = msgspec.json.decode(msgspec.json.encode(snapshot))
    return stored


def _emit(ctx: Context, kind: type[AgentDraftEvent], agent: Agent, based_on: int) -> None:
    ctx.emit(kind(agent_id=agent.id, name=agent.name, based_on=based_on))
