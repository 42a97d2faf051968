"""Receivers that refuse: audit streams, trace exporters, and the actions of subscriptions."""

from urllib.parse import urlsplit

import sqlalchemy as sa

from retinue.audit.models import AuditStream
from retinue.audit.queries import read_head
from retinue.events.models import Subscription
from retinue.home.needs import MAX_NEEDS_PER_KIND
from retinue.home.schemas import Need, NeedAction, NeedKind, NeedObject, NeedSeverity
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.events.models import AuditEntry
from retinue.traces.models import InstanceTraceExport, TraceExporter

# A stream that is well sends within seconds. One that is this late without an error has no worker to send it.
_MAX_STREAM_DELAY_SECONDS = 900

_streams, _exporters = AuditStream.__table__, TraceExporter.__table__
_subscriptions, _instance_export = Subscription.__table__, InstanceTraceExport.__table__
_audit_rows = AuditEntry.__table__

# The row that each stream has to send next, and how long it has waited.
_LATE_STREAMS = Statement(
    sa.select(
        _streams.c.id, _streams.c.name, _streams.c.cursor, _streams.c.last_error, _audit_rows.c.created_at
    )
    .join(
        _audit_rows,
        sa.and_(
            _audit_rows.c.tenant_id == _streams.c.tenant_id,
            _audit_rows.c.sequence == _streams.c.cursor + sa.literal(1),
        ),
    )
    .where(
        _streams.c.enabled.is_(True),
        sa.or_(_streams.c.last_error.is_not(None), _audit_rows.c.created_at < sa.bindparam("before")),
    )
    .limit(MAX_NEEDS_PER_KIND)
)
_FAILING_EXPORTERS = Statement(
    sa.select(
        _exporters.c.id,
        _exporters.c.name,
        _exporters.c.last_error,
        _exporters.c.failing_since,
        _exporters.c.updated_at,
    )
    .where(_exporters.c.enabled.is_(True), _exporters.c.last_error.is_not(None))
    .limit(MAX_NEEDS_PER_KIND)
)
_FAILING_INSTANCE_EXPORT = Statement(
    sa.select(
        _instance_export.c.id,
        _instance_export.c.last_error,
        _instance_export.c.failing_since,
        _instance_export.c.updated_at,
    )
    .where(_instance_export.c.last_error.is_not(None))
    .limit(1)
)
_FAILING_SUBSCRIPTIONS = record_statement(
    Subscription,
    sa.select(_subscriptions)
    .where(_subscriptions.c.active.is_(True), _subscriptions.c.last_error.is_not(None))
    .order_by(_subscriptions.c.last_triggered_at.desc())
    .limit(MAX_NEEDS_PER_KIND),
)


async def find_late_audit_streams(ctx: Context) -> list[Need]:
    head = (await read_head(ctx)).sequence
    rows = await ctx.db.rows(_LATE_STREAMS, before=ctx.clock.ahead(-_MAX_STREAM_DELAY_SECONDS))
    return [
        Need(
            kind=NeedKind.audit_stream,
            severity=NeedSeverity.bad,
            title_code="audit_stream_failing" if error else "audit_stream_late",
            params={"lag": head - cursor, "error": error},
            object=NeedObject(type="audit_stream", id=id, name=name),
            since=waiting_since,
            action=NeedAction.inspect,
        )
        for id, name, cursor, error, waiting_since in rows
    ]


async def find_failing_trace_exporters(ctx: Context) -> list[Need]:
    return [
        _exporter_need(id, name, error, since or updated_at)
        for id, name, error, since, updated_at in await ctx.db.rows(_FAILING_EXPORTERS)
    ]


async def find_failing_instance_export(ctx: Context) -> list[Need]:
    """Return the exporter that the operator configures, if its receiver refuses."""
    if not ctx.settings.otlp_endpoint:
        return []
    rows = await ctx.system("the exporter of the whole instance").rows(_FAILING_INSTANCE_EXPORT)
    return [
        _exporter_need(id, "OTEL_EXPORTER_OTLP_ENDPOINT", error, since or updated_at)
        for id, error, since, updated_at in rows
    ]


def _exporter_need(id: str, name: str, error: str, since: str) -> Need:
    return Need(
        kind=NeedKind.trace_exporter,
        severity=NeedSeverity.bad,
        title_code="trace_exporter_failing",
        params={"error": error},
        object=NeedObject(type="trace_exporter", id=id, name=name),
        since=since,
        action=NeedAction.inspect,
    )


async def find_failing_subscriptions(ctx: Context) -> list[Need]:
    needs = []
    for subscription in await ctx.db.rows(_FAILING_SUBSCRIPTIONS):
        url = subscription.action_config.get("url")
        host = urlsplit(url).hostname if isinstance(url, str) else None
        needs.append(
            Need(
                kind=NeedKind.subscription,
                severity=NeedSeverity.bad,
                title_code="subscription_failing",
                params={
                    "action": subscription.action_type.value,
                    "host": host or "",
                    "failure_count": subscription.failure_count,
                    "error": subscription.last_error,
                },
                object=NeedObject(
                    type="event_subscription", id=subscription.id, name=subscription.event_type
                ),
                since=subscription.last_triggered_at or subscription.updated_at,
                action=NeedAction.inspect,
            )
        )
    return needs
