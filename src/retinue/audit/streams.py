"""Management of audit streams: receivers that get every row of the chain, in order."""

import msgspec

from retinue.audit import delivery, queries
from retinue.audit.errors import TooManyAuditStreams
from retinue.audit.events import AuditStreamCreated, AuditStreamDeleted, AuditStreamUpdated
from retinue.audit.models import AuditStream
from retinue.audit.schemas import (
    AuditStreamConfig,
    AuditStreamCreate,
    AuditStreamOut,
    AuditStreamTest,
    AuditStreamUpdate,
    NewAuditStream,
)
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers
from retinue.kit.egress.destination import read_destination
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing, Page, PageQuery
from retinue.kit.schema.base import sent_fields
from retinue.kit.text.header_masks import mask_headers, require_entered, unmask_headers
from retinue.kit.webhook_signing import new_signing_secret

MAX_STREAMS = 20

_LISTING = Listing(AuditStream)


async def page(ctx: Context, query: PageQuery) -> Page[AuditStreamOut]:
    head = (await queries.read_head(ctx)).sequence
    return (await _LISTING.page(ctx.db, query)).to_page(lambda stream: _render_stream(stream, head))


async def render_stream(ctx: Context, stream: AuditStream) -> AuditStreamOut:
    return _render_stream(stream, (await queries.read_head(ctx)).sequence)


def _render_stream(stream: AuditStream, head: int) -> AuditStreamOut:
    config = AuditStreamConfig(url=stream.url, headers=stream.headers)
    return AuditStreamOut.of(stream, type="webhook", config=config, lag=max(0, head - stream.cursor))


async def create(ctx: Context, body: AuditStreamCreate) -> NewAuditStream:
    if await ctx.db.count(AuditStream) >= MAX_STREAMS:
        raise TooManyAuditStreams
    head = (await queries.read_head(ctx)).sequence
    secret = new_signing_secret()
    stream = await ctx.db.insert(
        AuditStream(
            name=body.name,
            secret=Sealed.of(secret.encode()),
            enabled=body.enabled,
            cursor=head if body.start == "now" else 0,
            due_at=ctx.now,
            created_by=ctx.principal.id,
            **_config_fields(ctx, body.config),
        )
    )
    ctx.emit(AuditStreamCreated(stream_id=stream.id, url=stream.url))
    return NewAuditStream.of(_render_stream(stream, head), secret=secret)


async def update(ctx: Context, stream: AuditStream, body: AuditStreamUpdate) -> AuditStreamOut:
    locked = await ctx.db.lock(AuditStream, stream.id) or stream
    changes: JsonObject = sent_fields(body)
    config = changes.pop("config", None)
    if config is not None:
        changes |= _changed_config(ctx, locked, config)
    changed = sorted(name for name in changes if name != "header_values")
    if changed:
        # A changed stream is tried again at once.
        await ctx.db.update(locked, **changes, due_at=ctx.now, failure_count=0, last_error=None)
        ctx.emit(AuditStreamUpdated(stream_id=locked.id, changed=changed))
    return await render_stream(ctx, locked)


async def delete(ctx: Context, stream: AuditStream) -> None:
    await ctx.db.delete(stream)
    ctx.emit(AuditStreamDeleted(stream_id=stream.id))


async def test(ctx: Context, stream: AuditStream) -> AuditStreamTest:
    """Send an empty batch and report what the receiver says."""
    error = await delivery.post(ctx, stream, [])
    return AuditStreamTest(success=error is None, message=error or "The receiver accepted an empty batch.")


def _changed_config(ctx: Context, stream: AuditStream, config: AuditStreamConfig) -> JsonObject:
    """Return the new fields; masked headers keep their values while the server is the same."""
    known = {}
    if stream.header_values is not None and _origin(config.url) == _origin(stream.url):
        known = delivery.decode_headers(stream.header_values.open(ctx.instance.ring))
    headers = unmask_headers(config.headers, known)
    return _config_fields(ctx, AuditStreamConfig(url=config.url, headers=headers))


def _config_fields(ctx: Context, config: AuditStreamConfig) -> JsonObject:
    ctx.adapter(Egress).check_field(config.url, "config.url")
    require_entered(config.headers, "config.headers")
    try:
        check_custom_headers(config.headers)
    except EgressRefused as refused:
        raise Invalid({"config.headers": refused.message}) from None
    values = Sealed.of(msgspec.json.encode(config.headers)) if config.headers else None
    return {"url": config.url, "headers": mask_headers(config.headers), "header_values": values}


def _origin(url: str) -> str:
    try:
        return read_destination(url).origin
    except EgressRefused:
        return ""
