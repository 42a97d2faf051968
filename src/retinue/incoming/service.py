"""Incoming webhooks: create, update and delete them; list and replay what they received."""

import msgspec
from msgspec import UnsetType

from retinue.incoming import intake, queries, slugs
from retinue.incoming.errors import (
    IncomingSlugTaken,
    IncomingWebhookInactive,
    IncomingWebhookNotFound,
    ReceivedNotFound,
)
from retinue.incoming.events import IncomingWebhookCreated, IncomingWebhookDeleted, IncomingWebhookUpdated
from retinue.incoming.job_kinds import ERASE_PAYLOADS, WebhookToErase
from retinue.incoming.models import IncomingWebhook, LargePayload, ReceivedPayload, VerificationType
from retinue.incoming.schemas import (
    IncomingWebhookCreate,
    IncomingWebhookList,
    IncomingWebhookOut,
    IncomingWebhookUpdate,
    ReceivedList,
    ReceivedOut,
    Replayed,
    Verification,
)
from retinue.incoming.verification import check_secret, default_header, has_custom_header
from retinue.kit.context import Context
from retinue.kit.context.conversation_access import load_content_reader
from retinue.kit.crypto import Sealed
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.errors import Invalid
from retinue.kit.http.routing import is_plausible_id
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import FlatPage
from retinue.kit.schema.base import sent_fields

_UNVERIFIED = Verification(type=VerificationType.none)


async def page(ctx: Context, query: IncomingWebhookList) -> FlatPage[IncomingWebhookOut]:
    found = await queries.HOOKS.page(ctx.db, query)
    return found.to_flat_page(lambda hook: render_webhook(ctx, hook))


async def create(ctx: Context, body: IncomingWebhookCreate) -> IncomingWebhook:
    hook = IncomingWebhook(
        name=body.name,
        slug=body.slug or slugs.random_slug(),
        description=body.description,
        workflow_id=body.workflow_id,
        active=body.active,
        dedupe_header=body.dedupe_header,
        created_by=ctx.principal.id,
        **_verification_columns(body.verification or _UNVERIFIED),
    )
    try:
        await ctx.db.insert(hook)
    except UniqueViolation:
        raise IncomingSlugTaken from None
    if body.slug:
        await slugs.claim(ctx, hook.slug)
    ctx.emit(IncomingWebhookCreated(incoming_webhook_id=hook.id, name=hook.name, slug=hook.slug))
    return hook


async def update(ctx: Context, hook: IncomingWebhook, body: IncomingWebhookUpdate) -> IncomingWebhook:
    locked = await ctx.db.lock(IncomingWebhook, hook.id)
    if locked is None:
        raise IncomingWebhookNotFound
    sent, slug_before = sent_fields(body), locked.slug
    changes = {name: value for name, value in sent.items() if name != "verification"}
    if not isinstance(body.verification, UnsetType):
        changes |= _verification_columns(body.verification or _UNVERIFIED, locked)
    try:
        await ctx.db.update(locked, **changes)
    except UniqueViolation:
        raise IncomingSlugTaken from None
    if locked.slug != slug_before:
        await slugs.claim(ctx, locked.slug)
        await slugs.release(ctx, slug_before)
    if sent:
        ctx.emit(
            IncomingWebhookUpdated(
                incoming_webhook_id=locked.id, name=locked.name, slug=locked.slug, changes=sorted(sent)
            )
        )
    return locked


async def delete(ctx: Context, hook: IncomingWebhook) -> None:
    """Delete the webhook at once; a job deletes its received payloads."""
    # Read again under the lock: the slug may have changed.
    locked = await ctx.db.lock(IncomingWebhook, hook.id)
    if locked is None:
        raise IncomingWebhookNotFound
    await ctx.db.delete(locked)
    await slugs.release(ctx, locked.slug)
    ctx.defer(ERASE_PAYLOADS, WebhookToErase(locked.id))
    ctx.emit(IncomingWebhookDeleted(incoming_webhook_id=locked.id, name=locked.name, slug=locked.slug))


async def erase_payloads(ctx: Context, payload: WebhookToErase) -> None:
    await queries.delete_received_of_hook(ctx, payload.incoming_webhook_id)


async def page_of_received(ctx: Context, hook: IncomingWebhook, query: ReceivedList) -> FlatPage[ReceivedOut]:
    found = await queries.RECEIVED.page(ctx.db, query, incoming_webhook_id=hook.id)
    reader = await load_content_reader(ctx, (received.conversation_ids for received in found.items))
    return found.to_flat_page(
        lambda received: ReceivedOut.from_record(
            received, is_readable=reader.may_read(received.conversation_ids)
        )
    )


async def show_received(ctx: Context, hook: IncomingWebhook, received_id: str) -> ReceivedOut:
    received = await _fetch_received(ctx, hook, received_id)
    reader = await load_content_reader(ctx, [received.conversation_ids])
    is_readable = reader.may_read(received.conversation_ids)
    return ReceivedOut.from_record(received, await _large_text(ctx, received), is_readable=is_readable)


async def replay(ctx: Context, hook: IncomingWebhook, received_id: str) -> Replayed:
    """Process a payload as if it had just arrived; for a duplicate, the original payload."""
    original = await _fetch_received(ctx, hook, received_id)
    if original.duplicate_of is not None:
        original = await _fetch_received(ctx, hook, original.duplicate_of)
    if not hook.active:
        raise IncomingWebhookInactive
    text = original.payload if original.payload is not None else await _large_text(ctx, original)
    replayed = ReceivedPayload(
        incoming_webhook_id=hook.id,
        payload=None,
        payload_bytes=0,
        headers=original.headers,
        query=original.query,
        content_type=original.content_type,
        source_ip=original.source_ip,
        replay_of=original.id,
        workflow_id=hook.workflow_id,
        is_waiting=hook.workflow_id is not None,
        event_id="",
        correlation_id=ctx.caller.correlation_id,
        conversation_ids=original.conversation_ids,
    )
    await intake.store_payload(ctx, hook, replayed, msgspec.json.decode(text or "null"))
    return Replayed.of(replayed)


def render_webhook(ctx: Context, hook: IncomingWebhook) -> IncomingWebhookOut:
    return IncomingWebhookOut.from_record(hook, ctx.settings.base_url)


async def _fetch_received(ctx: Context, hook: IncomingWebhook, received_id: str) -> ReceivedPayload:
    received = await ctx.db.get(ReceivedPayload, received_id) if is_plausible_id(received_id) else None
    if received is None or received.incoming_webhook_id != hook.id:
        raise ReceivedNotFound
    return received


async def _large_text(ctx: Context, received: ReceivedPayload) -> str | None:
    if received.payload is not None or received.duplicate_of is not None:
        return None
    large = await ctx.db.get(LargePayload, received.id)
    return large.payload if large is not None else None


def _verification_columns(verification: Verification, locked: IncomingWebhook | None = None) -> JsonObject:
    """Return the columns of a verification; without a new secret, that of `locked` stays."""
    kind = verification.type
    header = verification.header if has_custom_header(kind) and verification.header else default_header(kind)
    columns: JsonObject = {"verification_type": kind, "verification_header": header}
    if kind is VerificationType.none:
        return {**columns, "secret": None}
    if verification.secret is not None:
        check_secret(kind, verification.secret)
        return {**columns, "secret": Sealed.of(verification.secret)}
    if locked is None or locked.verification_type is not kind or locked.secret is None:
        raise Invalid({"verification.secret": f"is required for {kind.value}"})
    return columns
