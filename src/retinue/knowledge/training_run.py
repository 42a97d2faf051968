"""A training run: from the first waiting document to the last one that ends.

Every function expects the base to be locked by the caller, so a run ends once.
"""

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.knowledge.events import TrainingCompleted, TrainingFailed
from retinue.knowledge.models import KnowledgeBase, TrainingStatus


class TrainingProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of an agent's training; the counts are those of the current or last run."""

    status: TrainingStatus = TrainingStatus.idle
    documents_total: int = 0
    documents_done: int = 0
    documents_failed: int = 0
    started_at: Instant | None = None
    finished_at: Instant | None = None
    error: JsonObject | None = None


def to_progress(base: KnowledgeBase) -> TrainingProgress:
    return TrainingProgress(
        status=base.run_status,
        documents_total=base.run_total,
        documents_done=base.run_done,
        documents_failed=base.run_failed,
        started_at=base.run_started_at,
        finished_at=base.run_finished_at,
        error=base.run_error,
    )


async def start(ctx: Context, base: KnowledgeBase, documents: int) -> None:
    """Add documents to the current run, or start a new one."""
    if base.run_status is TrainingStatus.training:
        await ctx.db.update(base, run_total=base.run_total + documents)
        return
    await ctx.db.update(
        base,
        run_id=new_id("trn"),
        run_status=TrainingStatus.training,
        run_total=documents,
        run_done=0,
        run_failed=0,
        run_error=None,
        run_started_at=ctx.now,
        run_finished_at=None,
    )


async def document_indexed(ctx: Context, base: KnowledgeBase) -> None:
    await ctx.db.update(base, run_done=base.run_done + 1, generation=base.generation + 1)
    await _end_if_over(ctx, base)


async def document_failed(ctx: Context, base: KnowledgeBase, error: dict[str, str]) -> None:
    await ctx.db.update(base, run_failed=base.run_failed + 1, run_error=error)
    await _end_if_over(ctx, base)


async def document_withdrawn(ctx: Context, base: KnowledgeBase) -> None:
    """Remove a document from the run that was deleted before it was indexed."""
    await ctx.db.update(base, run_total=max(0, base.run_total - 1))
    await _end_if_over(ctx, base)


async def _end_if_over(ctx: Context, base: KnowledgeBase) -> None:
    if base.run_status is not TrainingStatus.training or base.run_done + base.run_failed < base.run_total:
        return
    outcome = _outcome(base)
    await ctx.db.update(base, run_status=outcome, run_finished_at=ctx.now)
    event_data: JsonObject = {
        "agent_id": base.owner_id,
        "knowledge_base_id": base.id,
        "job_id": base.run_id,
        "documents_total": base.run_total,
        "documents_done": base.run_done,
        "documents_failed": base.run_failed,
    }
    if outcome is TrainingStatus.failed:
        ctx.emit(TrainingFailed(**event_data, error=base.run_error))
    elif outcome is not TrainingStatus.idle:
        ctx.emit(TrainingCompleted(**event_data, status=outcome.value))


def _outcome(base: KnowledgeBase) -> TrainingStatus:
    if not base.run_total:
        return TrainingStatus.idle
    if not base.run_failed:
        return TrainingStatus.completed
    return TrainingStatus.partial if base.run_done else TrainingStatus.failed
