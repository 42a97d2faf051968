"""Incoming webhooks: made, changed, deleted, and what they have received."""

from typing import Any

import msgspec
from msgspec import UnsetType

from retinue.incoming import queries, receiving, slugs
from retinue.incoming.errors import (
    IncomingSlugTaken,
    IncomingWebhookInactive,
    IncomingWebhookNotFound,
    ReceivedNotFound,
)
from retinue.incoming.events import IncomingWebhookCreated, IncomingWebhookDeleted, IncomingWebhookUpdated
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
from retinue.incoming.verification import check_secret, default_header, has_free_header
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.errors import Invalid
from retinue.kit.http.routing import is_plausible
from retinue.kit.jobs.declare import job
from retinue.kit.lists import FlatPage
from retinue.kit.schemas import given

_UNVERIFIED = Verification(type=VerificationType.none)


class WebhookToErase(msgspec.Struct):
    incoming_webhook_id: str


async def page(ctx: Context, query: IncomingWebhookList) -> FlatPage[IncomingWebhookOut]:
    found = await queries.HOOKS.page(ctx.db, query)
    return found.shown_flat(lambda hook: shown(ctx, hook))


async def create(ctx: Context, body: IncomingWebhookCreate) -> IncomingWebhook:
    hook = IncomingWebhook(
        name=body.name,
        slug=body.slug or slugs.random_slug(),
        description=body.description,
        workflow_id=body.workflow_id,
        active=body.active,
        dedupe_header=body.dedupe_header,
        created_by=ctx.principal.id,
        **_verifying(body.verification or _UNVERIFIED),
    )
    try:
        await ctx.db.insert(hook)
    except UniqueViolation:
        raise IncomingSlugTaken from None
    if body.slug:
        await slugs.take(ctx, hook.slug)
    ctx.emit(IncomingWebhookCreated(incoming_webhook_id=hook.id, name=hook.name, slug=hook.slug))
    return hook


async def change(ctx: Context, hook: IncomingWebhook, body: IncomingWebhookUpdate) -> IncomingWebhook:
    held = await ctx.db.lock(IncomingWebhook, hook.id)
    if held is None:
        raise IncomingWebhookNotFound
    named, slug_before = given(body), held.slug
    changes = {name: value for name, value in named.items() if name != "verification"}
    if not isinstance(body.verification, UnsetType):
        changes |= _verifying(body.verification or _UNVERIFIED, held)
    try:
        await ctx.db.update(held, **changes)
    except UniqueViolation:
        raise IncomingSlugTaken from None
    if held.slug != slug_before:
        await slugs.take(ctx, held.slug)
        await slugs.give_up(ctx, slug_before)
    if named:
        ctx.emit(
            IncomingWebhookUpdated(
                incoming_webhook_id=held.id, name=held.name, slug=held.slug, changes=sorted(named)
            )
        )
    return held


async def remove(ctx: Context, hook: IncomingWebhook) -> None:
    """The address is gone at once; what it has received is erased step by step."""
    # As it is now: the slug may have been changed since it was read.
    held = await ctx.db.lock(IncomingWebhook, hook.id)
    if held is None:
        raise IncomingWebhookNotFound
    await ctx.db.delete(held)
    await slugs.give_up(ctx, held.slug)
    ctx.defer(erase_received, WebhookToErase(held.id))
    ctx.emit(IncomingWebhookDeleted(incoming_webhook_id=held.id, name=held.name, slug=held.slug))


@job(timeout_s=600, transactional=False)
async def erase_received(ctx: Context, payload: WebhookToErase) -> None:
    await queries.erase_of_hook(ctx, payload.incoming_webhook_id)


async def page_of_received(ctx: Context, hook: IncomingWebhook, query: ReceivedList) -> FlatPage[ReceivedOut]:
    found = await queries.RECEIVED.page(ctx.db, query, incoming_webhook_id=hook.id)
    return found.shown_flat(ReceivedOut.shown)


async def show_received(ctx: Context, hook: IncomingWebhook, received_id: str) -> ReceivedOut:
    received = await _fetch_received(ctx, hook, received_id)
    return ReceivedOut.shown(received, await _large_text(ctx, received))


async def replay(ctx: Context, hook: IncomingWebhook, received_id: str) -> Replayed:
    """Take a payload once more, as if it had just arrived; of a duplicate, the payload it repeats."""
    first = await _fetch_received(ctx, hook, received_id)
    if first.duplicate_of is not None:
        first = await _fetch_received(ctx, hook, first.duplicate_of)
    if not hook.active:
        raise IncomingWebhookInactive
    text = first.payload if first.payload is not None else await _large_text(ctx, first)
    again = ReceivedPayload(
        incoming_webhook_id=hook.id,
        payload=None,
        payload_bytes=0,
        headers=first.headers,
        query=first.query,
        content_type=first.content_type,
        source_ip=first.source_ip,
        replay_of=first.id,
        workflow_id=hook.workflow_id,
        is_waiting=hook.workflow_id is not None,
        event_id="",
        correlation_id=ctx.caller.correlation_id,
    )
    await receiving.store(ctx, hook, again, msgspec.json.decode(text or "null"))
    return Replayed.of(again)


def shown(ctx: Context, hook: IncomingWebhook) -> IncomingWebhookOut:
    return IncomingWebhookOut.shown(hook, ctx.settings.base_url)


async def _fetch_received(ctx: Context, hook: IncomingWebhook, received_id: str) -> ReceivedPayload:
    found = await ctx.db.get(ReceivedPayload, received_id) if is_plausible(received_id) else None
    if found is None or found.incoming_webhook_id != hook.id:
        raise ReceivedNotFound
    return found


async def _large_text(ctx: Context, received: ReceivedPayload) -> str | None:
    if received.payload is not None or received.duplicate_of is not None:
        return None
    large = await ctx.db.get(LargePayload, received.id)
    return large.payload if large is not None else None


def _verifying(wanted: Verification, held: IncomingWebhook | None = None) -> dict[str, Any]:
    """The columns of a verification; `held` is the webhook as it is, whose secret may stay."""
    kind = wanted.type
    header = wanted.header if has_free_header(kind) and wanted.header else default_header(kind)
    columns: dict[str, Any] = {"verification_type": kind, "verification_header": header}
    if kind is VerificationType.none:
        return {**columns, "secret": None}
    if wanted.secret is not None:
        check_secret(kind, wanted.secret)
        return {**columns, "secret": Sealed.of(wanted.secret)}
    if held is None or held.verification_type is not kind or held.secret is None:
        raise Invalid({"verification.secret": f"is required for {kind.value}"})
    return columns
