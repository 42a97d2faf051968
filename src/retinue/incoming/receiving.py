"""Taking a payload: stored with its event and its job in one transaction, and only then answered."""

import re
from typing import Any

import msgspec
from msgspec import UNSET

from retinue.incoming import queries
from retinue.incoming.deliveries import delivery_key
from retinue.incoming.errors import IncomingWebhookInactive, IncomingWebhookNotFound, TooMuchWaiting
from retinue.incoming.events import WebhookReceived
from retinue.incoming.models import (
    IncomingWebhook,
    LargePayload,
    ReceivedPayload,
    ReceivedStatus,
    VerificationType,
)
from retinue.incoming.schemas import Receipt
from retinue.incoming.sent import Headers, kept_content_type, kept_query, read_payload
from retinue.incoming.triggering import PayloadToTrigger, trigger_received
from retinue.incoming.verification import Delivery, verify
from retinue.kit import hops
from retinue.kit.context import Caller, Context
from retinue.kit.errors import Unavailable
from retinue.kit.http.bodies import read_body
from retinue.kit.http.request import Request, limit_address
from retinue.kit.http.routing import JSON_LIMIT
from retinue.kit.ids import new_id

PER_MINUTE = 600
MOST_WAITING = 10_000
INLINE_BYTES = 64 * 1024
_WAIT_S = 60
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")


class DeliveredBefore(Exception):
    """The webhook has this delivery already."""


async def receive(ctx: Context, slug: str, request: Request) -> Receipt:
    """Nothing is stored before the sender's limit, its proof and its JSON are found good."""
    hook = await _fetch(ctx, slug, request)
    ctx.act_in(hook.tenant_id)
    if not hook.active:
        raise IncomingWebhookInactive
    body = await read_body(request.receive, JSON_LIMIT, request.headers.get(b"content-length"))
    headers = Headers(request.scope["headers"])
    _verify(ctx, hook, headers, body)
    payload = read_payload(body)
    await _require_room(ctx, hook)
    arrived = _arrived(ctx, hook, request, headers)
    arrived.delivery_key = delivery_key(hook, headers, payload)
    challenge = _challenge(hook, payload)
    if challenge is None:
        arrived.workflow_id, arrived.is_waiting = hook.workflow_id, hook.workflow_id is not None
    receipt = await _take(ctx, _sender(ctx, hook, headers), hook, arrived, payload)
    receipt.challenge = UNSET if challenge is None else challenge
    return receipt


async def store(ctx: Context, hook: IncomingWebhook, received: ReceivedPayload, payload: Any) -> None:
    """The payload, its event and the job for its workflow; `DeliveredBefore` if it is there already."""
    received.id = new_id(ReceivedPayload.__prefix__)
    text = msgspec.json.encode(payload).decode()
    received.payload_bytes = len(text.encode())
    is_large = received.payload_bytes > INLINE_BYTES
    received.payload = None if is_large else text
    received.event_id = ctx.emit(_event(hook, received, None if is_large else payload, is_omitted=is_large))
    if received.delivery_key is None:
        await ctx.db.insert_at_commit(received)
    elif not await ctx.db.insert_missing(received):
        raise DeliveredBefore
    if is_large:
        large = LargePayload(id=received.id, incoming_webhook_id=hook.id, payload=text)
        await ctx.db.insert_at_commit(large)
    if received.is_waiting:
        ctx.defer(trigger_received, PayloadToTrigger(received.id))


async def _fetch(ctx: Context, slug: str, request: Request) -> IncomingWebhook:
    """The webhook, and its sender within the limit; whoever guesses slugs has a limit too."""
    found = None
    if _SLUG.fullmatch(slug):
        found = await ctx.system("a slug says for itself which tenant it belongs to").find(
            IncomingWebhook, slug=slug
        )
    address = limit_address(request.ip_address)
    key = f"incoming:{found.id}:{address}" if found is not None else f"incoming:{address}"
    decision = await ctx.instance.limiter.hit_window(key, PER_MINUTE, 60)
    request.limit_headers = decision.headers()
    if not decision.allowed:
        raise decision.refusal()
    if found is None:
        raise IncomingWebhookNotFound
    return found


def _verify(ctx: Context, hook: IncomingWebhook, headers: Headers, body: bytes) -> None:
    if hook.secret is None:
        return
    delivery = Delivery(
        headers=headers,
        header=hook.verification_header or "",
        body=body,
        secret=hook.secret.open(ctx.instance.ring),
        now=ctx.clock.time(),
    )
    verify(hook.verification_type, delivery)


async def _require_room(ctx: Context, hook: IncomingWebhook) -> None:
    if hook.workflow_id is None or await queries.count_waiting(ctx, hook) < MOST_WAITING:
        return
    raise TooMuchWaiting(
        limit=MOST_WAITING,
        window=_WAIT_S,
        retry_after=_WAIT_S,
        reset=int(ctx.clock.time()) + _WAIT_S,
        message=TooMuchWaiting.__doc__,
    )


def _arrived(ctx: Context, hook: IncomingWebhook, request: Request, headers: Headers) -> ReceivedPayload:
    return ReceivedPayload(
        incoming_webhook_id=hook.id,
        payload=None,
        payload_bytes=0,
        headers=headers.kept(hook.verification_header),
        query=kept_query(request.query_pairs()),
        content_type=kept_content_type(headers),
        source_ip=ctx.caller.ip_address,
        event_id="",
        correlation_id=ctx.caller.correlation_id,
    )


async def _take(
    ctx: Context, sender: Caller, hook: IncomingWebhook, arrived: ReceivedPayload, payload: Any
) -> Receipt:
    try:
        async with _acting_for(ctx, sender) as unit:
            await store(unit, hook, arrived, payload)
            queries.count_one_more(unit, hook)
    except DeliveredBefore:
        async with _acting_for(ctx, sender) as unit:
            first = await _store_duplicate(unit, arrived)
        return Receipt.of(first, received=True, duplicate=True, challenge=UNSET)
    return Receipt(id=arrived.id, event_id=arrived.event_id)


async def _store_duplicate(ctx: Context, arrived: ReceivedPayload) -> ReceivedPayload:
    """That it came again is in the log, without the payload, which is there already; the first one."""
    first = await ctx.db.find(
        ReceivedPayload, incoming_webhook_id=arrived.incoming_webhook_id, delivery_key=arrived.delivery_key
    )
    if first is None:
        raise Unavailable
    arrived.id = new_id(ReceivedPayload.__prefix__)
    arrived.payload, arrived.delivery_key, arrived.duplicate_of = None, None, first.id
    arrived.status, arrived.is_waiting = ReceivedStatus.duplicate, False
    arrived.event_id = first.event_id
    await ctx.db.insert_at_commit(arrived)
    return first


def _sender(ctx: Context, hook: IncomingWebhook, headers: Headers) -> Caller:
    """What follows is the webhook's doing, and as far along a chain of causes as its sender was."""
    actor = {"type": "incoming_webhook", "id": hook.id}
    return msgspec.structs.replace(ctx.caller, actor=actor, hops=hops.told(headers.one(hops.HEADER) or ""))


def _acting_for(ctx: Context, sender: Caller) -> Context:
    inner = Context(ctx.instance, ctx.principal, sender)
    inner.act_in(ctx.tenant_id)
    return inner


def _event(
    hook: IncomingWebhook, received: ReceivedPayload, payload: Any, *, is_omitted: bool
) -> WebhookReceived:
    return WebhookReceived(
        incoming_webhook_id=hook.id,
        name=hook.name,
        slug=hook.slug,
        received_id=received.id,
        replay_of=received.replay_of,
        workflow_id=received.workflow_id,
        content_type=received.content_type,
        payload=payload,
        payload_bytes=received.payload_bytes,
        is_payload_omitted=is_omitted,
    )


def _challenge(hook: IncomingWebhook, payload: Any) -> str | None:
    """What Slack sends once to see whether an address is ours; it goes back."""
    if hook.verification_type is not VerificationType.slack or not isinstance(payload, dict):
        return None
    challenge = payload.get("challenge")
    is_question = payload.get("type") == "url_verification" and isinstance(challenge, str)
    return challenge if is_question else None
