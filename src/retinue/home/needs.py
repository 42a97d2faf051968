"""Work that waits for a person. Every query reads a bounded number of rows through an index."""

from datetime import timedelta
from urllib.parse import urlsplit

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.approvals.models import Approval
from retinue.approvals.queries import find_pending
from retinue.credentials.models import Credential
from retinue.home.schemas import Need, NeedAction, NeedKind, NeedObject, NeedSeverity
from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.inline_text import InlineText
from retinue.kit.db.statements import Statement
from retinue.kit.json_types import JsonObject
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase
from retinue.notifications.models import Channel
from retinue.providers.models import ProviderKey
from retinue.webhooks.delivery.results import DISABLE_AFTER
from retinue.webhooks.models import Webhook
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution

MAX_NEEDS_PER_KIND = 10
RUN_AGE_SECONDS = 24 * 3600
EXPIRY_NOTICE_SECONDS = 7 * 24 * 3600
# Failures come in bursts: so many of the latest ones are looked at to find the workflows they belong to.
_MAX_FAILED_RUNS = 100

_hooks, _runs, _flows = Webhook.__table__, WorkflowExecution.__table__, Workflow.__table__
_channels, _keys, _credentials = Channel.__table__, ProviderKey.__table__, Credential.__table__
_documents, _bases, _agents = Document.__table__, KnowledgeBase.__table__, Agent.__table__

_FAILING_HOOKS = Statement(
    sa.select(
        _hooks.c.id,
        _hooks.c.url,
        _hooks.c.description,
        _hooks.c.disable_at,
        _hooks.c.disabled_reason,
        _hooks.c.failed_count,
        _hooks.c.updated_at,
    )
    .where(
        sa.or_(
            sa.and_(_hooks.c.is_active.is_(True), _hooks.c.disable_at.is_not(None)),
            sa.and_(_hooks.c.is_active.is_(False), _hooks.c.disabled_reason.is_not(None)),
        )
    )
    .limit(MAX_NEEDS_PER_KIND)
)
_later = _runs.alias("later")
_FAILED_RUNS = Statement(
    sa.select(_runs.c.id, _runs.c.workflow_id, _runs.c.created_at, _runs.c.error, _flows.c.name)
    .join(_flows, sa.and_(_flows.c.tenant_id == _runs.c.tenant_id, _flows.c.id == _runs.c.workflow_id))
    .where(
        _runs.c.status == InlineText(RunStatus.failed.value),
        _runs.c.created_at >= sa.bindparam("since"),
        _runs.c.root_id.is_(None),
        ~sa.exists().where(
            _later.c.tenant_id == _runs.c.tenant_id,
            _later.c.workflow_id == _runs.c.workflow_id,
            _later.c.status == RunStatus.completed.value,
            _later.c.created_at > _runs.c.created_at,
        ),
    )
    .order_by(_runs.c.created_at.desc())
    .limit(_MAX_FAILED_RUNS)
)
_FAILING_CHANNELS = Statement(
    sa.select(_channels.c.id, _channels.c.name, _channels.c.last_error, _channels.c.updated_at)
    .where(_channels.c.is_active.is_(True), _channels.c.last_error.is_not(None))
    .limit(MAX_NEEDS_PER_KIND)
)
_REFUSED_KEYS = Statement(
    sa.select(_keys.c.id, _keys.c.name, _keys.c.provider, _keys.c.last_tested_at, _keys.c.updated_at)
    .where(_keys.c.is_active.is_(True), _keys.c.is_valid.is_(False))
    .limit(MAX_NEEDS_PER_KIND)
)
_CREDENTIALS = Statement(
    sa.select(
        _credentials.c.id,
        _credentials.c.name,
        _credentials.c.is_valid,
        _credentials.c.expires_at,
        _credentials.c.updated_at,
    )
    .where(sa.or_(_credentials.c.is_valid.is_(False), _credentials.c.expires_at <= sa.bindparam("soon")))
    .order_by(_credentials.c.expires_at)
    .limit(MAX_NEEDS_PER_KIND)
)
_FAILED_DOCUMENTS = Statement(
    sa.select(_documents.c.id, _documents.c.name, _documents.c.updated_at, _documents.c.error, _agents.c.id)
    .join(
        _bases,
        sa.and_(_bases.c.tenant_id == _documents.c.tenant_id, _bases.c.id == _documents.c.base_id),
    )
    .join(_agents, sa.and_(_agents.c.tenant_id == _bases.c.tenant_id, _agents.c.id == _bases.c.owner_id))
    .where(_documents.c.status == InlineText(DocumentStatus.failed.value))
    .order_by(_documents.c.updated_at.desc())
    .limit(MAX_NEEDS_PER_KIND)
)


def code_of_error(error: JsonObject | str | None) -> str:
    """Return the code of a stored error; its message may quote a conversation (ADR 21)."""
    decoded = msgspec.json.decode(error) if isinstance(error, str) else error
    return str(decoded.get("code", "")) if isinstance(decoded, dict) else ""


async def find_failing_webhooks(ctx: Context) -> list[Need]:
    needs = []
    for id, url, description, disable_at, reason, failed, updated_at in await ctx.db.rows(_FAILING_HOOKS):
        host = urlsplit(url).hostname or url
        since = to_instant(parse_instant(disable_at) - DISABLE_AFTER) if disable_at else updated_at
        needs.append(
            Need(
                kind=NeedKind.delivery,
                severity=NeedSeverity.bad,
                title_code="webhook_disabled" if reason else "webhook_failing",
                params={"host": host, "failed_count": failed, "disables_at": disable_at},
                object=NeedObject(type="webhook", id=id, name=description or host),
                since=since,
                action=NeedAction.inspect,
            )
        )
    return needs


async def find_failed_runs(ctx: Context) -> list[Need]:
    """Return the latest failed execution of each workflow that has not succeeded since."""
    found: dict[str, Need] = {}
    rows = await ctx.db.rows(_FAILED_RUNS, since=ctx.clock.ahead(-RUN_AGE_SECONDS))
    for id, workflow_id, created_at, error, name in rows:
        if workflow_id in found:
            found[workflow_id].params["failed_count"] += 1
            continue
        found[workflow_id] = Need(
            kind=NeedKind.run,
            severity=NeedSeverity.bad,
            title_code="run_failed",
            params={"execution_id": id, "error": code_of_error(error), "failed_count": 1},
            object=NeedObject(type="workflow", id=workflow_id, name=name),
            since=created_at,
            action=NeedAction.open_run,
        )
    return list(found.values())[:MAX_NEEDS_PER_KIND]


async def find_failing_channels(ctx: Context) -> list[Need]:
    return [
        Need(
            kind=NeedKind.channel,
            severity=NeedSeverity.bad,
            title_code="channel_failing",
            params={"error": error},
            object=NeedObject(type="notification_channel", id=id, name=name),
            since=updated_at,
            action=NeedAction.inspect,
        )
        for id, name, error, updated_at in await ctx.db.rows(_FAILING_CHANNELS)
    ]


async def find_refused_keys(ctx: Context) -> list[Need]:
    return [
        Need(
            kind=NeedKind.api_key,
            severity=NeedSeverity.bad,
            title_code="api_key_refused",
            params={"provider": provider},
            object=NeedObject(type="api_key", id=id, name=name),
            since=tested_at or updated_at,
            action=NeedAction.replace_secret,
        )
        for id, name, provider, tested_at, updated_at in await ctx.db.rows(_REFUSED_KEYS)
    ]


async def find_ailing_credentials(ctx: Context) -> list[Need]:
    needs = []
    rows = await ctx.db.rows(_CREDENTIALS, soon=ctx.clock.ahead(EXPIRY_NOTICE_SECONDS))
    for id, name, is_valid, expires_at, updated_at in rows:
        is_over = expires_at is not None and expires_at <= ctx.now
        code = "credential_expired" if is_over else "credential_expires"
        needs.append(
            Need(
                kind=NeedKind.credential,
                severity=NeedSeverity.bad if is_over or not is_valid else NeedSeverity.warn,
                title_code=code if is_valid or is_over else "credential_invalid",
                params={"expires_at": expires_at},
                object=NeedObject(type="credential", id=id, name=name),
                since=expires_at if is_over else updated_at,
                action=NeedAction.replace_secret,
            )
        )
    return needs


async def find_failed_documents(ctx: Context) -> list[Need]:
    return [
        Need(
            kind=NeedKind.document,
            severity=NeedSeverity.warn,
            title_code="document_failed",
            params={"agent_id": agent_id, "error": code_of_error(error)},
            object=NeedObject(type="document", id=id, name=name),
            since=updated_at,
            action=NeedAction.reindex,
        )
        for id, name, updated_at, error, agent_id in await ctx.db.rows(_FAILED_DOCUMENTS)
    ]


async def find_waiting_approvals(ctx: Context) -> list[Need]:
    """Return the approvals that wait for the caller, those that expire first before the others."""
    return [_waiting(approval, ctx) for approval in await find_pending(ctx, MAX_NEEDS_PER_KIND)]


def _waiting(approval: Approval, ctx: Context) -> Need:
    soon = to_instant(parse_instant(ctx.now) + timedelta(hours=1))
    return Need(
        kind=NeedKind.approval,
        severity=NeedSeverity.bad if approval.expires_at <= soon else NeedSeverity.warn,
        title_code="approval_waiting",
        params={"expires_at": approval.expires_at, "source": approval.source_type.value},
        object=NeedObject(type="approval", id=approval.id, name=approval.title),
        since=approval.created_at,
        action=NeedAction.decide,
    )
