"""Intake of payloads: payload, event and job are stored in one transaction before the response (ADR 3)."""

import re
from typing import Any

import msgspec
from msgspec import UNSET

from retinue.incoming import queries
from retinue.incoming.delivery_keys import delivery_key
from retinue.incoming.errors import IncomingWebhookInactive, IncomingWebhookNotFound, PayloadQueueFull
from retinue.incoming.events import WebhookReceived
from retinue.incoming.job_kinds import TRIGGER_WORKFLOW, PayloadToTrigger
from retinue.incoming.models import (
    IncomingWebhook,
    LargePayload,
    ReceivedPayload,
    ReceivedStatus,
    VerificationType,
)
from retinue.incoming.own_deliveries import quoted_conversations
from retinue.incoming.request_content import (
    RequestHeaders,
    loggable_content_type,
    loggable_query,
    parse_payload,
)
from retinue.incoming.schemas import Receipt
from retinue.incoming.verification import SignedRequest, verify
from retinue.kit import hop_count
from retinue.kit.context import Caller, Context
from retinue.kit.errors import Unavailable
from retinue.kit.http.bodies import read_body
from retinue.kit.http.request import Request, limit_address
from retinue.kit.http.routing import MAX_JSON_BODY_BYTES
from retinue.kit.ids import new_id

MAX_REQUESTS_PER_MINUTE = 600
MAX_QUEUED_PAYLOADS = 10_000
MAX_INLINE_BYTES = 64 * 1024
_RETRY_AFTER_SECONDS = 60
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")


class DuplicateDelivery(Exception):
    """The webhook has already stored this delivery."""


async def receive(ctx: Context, slug: str, request: Request) -> Receipt:
    """Check rate limit, signature and JSON, then store the payload and return the receipt."""
    hook = await _require_hook(ctx, slug, request)
    ctx.bind_tenant(hook.tenant_id)
    if not hook.active:
        raise IncomingWebhookInactive
    body = await read_body(request.receive, MAX_JSON_BODY_BYTES, request.headers.get(b"content-length"))
    headers = RequestHeaders(request.scope["headers"])
    _verify(ctx, hook, headers, body)
    payload = parse_payload(body)
    await _require_capacity(ctx, hook)
    new_payload = _build_payload(ctx, hook, request, headers)
    new_payload.conversation_ids = await quoted_conversations(ctx, headers, payload)
    new_payload.delivery_key = delivery_key(hook, headers, payload)
    challenge = _slack_challenge(hook, payload)
    if challenge is None:
        new_payload.workflow_id, new_payload.is_waiting = hook.workflow_id, hook.workflow_id is not None
    receipt = await _store_or_duplicate(ctx, _sender_caller(ctx, hook, headers), hook, new_payload, payload)
    receipt.challenge = UNSET if challenge is None else challenge
    return receipt


async def store_payload(ctx: Context, hook: IncomingWebhook, received: ReceivedPayload, payload: Any) -> None:
    """Store the payload, its event and the job for its workflow, or raise `DuplicateDelivery`."""
    received.id = new_id(ReceivedPayload.__prefix__)
    text = msgspec.json.encode(payload).decode()
    received.payload_bytes = len(text.encode())
    is_large = received.payload_bytes > MAX_INLINE_BYTES
    received.payload = None if is_large else text
    received.event_id = ctx.emit(
        _event(hook, received, None if is_large else payload, is_omitted=is_large),
        conversation_ids=received.conversation_ids or (),
    )
    if received.delivery_key is None:
        await ctx.db.insert_at_commit(received)
    elif not await ctx.db.insert_missing(received):
        raise DuplicateDelivery
    if is_large:
        large = LargePayload(id=received.id, incoming_webhook_id=hook.id, payload=text)
        await ctx.db.insert_at_commit(large)
    if received.is_waiting:
        ctx.defer(TRIGGER_WORKFLOW, PayloadToTrigger(received.id))


async def _require_hook(ctx: Context, slug: str, request: Request) -> IncomingWebhook:
    """Return the webhook after counting the request against the sender's limit, even for unknown slugs."""
    hook = None
    if _SLUG.fullmatch(slug):
        hook = await ctx.system("a slug says for itself which tenant it belongs to").find(
            IncomingWebhook, slug=slug
        )
    address = limit_address(request.ip_address)
    key = f"incoming:{hook.id}:{address}" if hook is not None else f"incoming:{address}"
    decision = await ctx.instance.limiter.hit_window(key, MAX_REQUESTS_PER_MINUTE, 60)
    request.limit_headers = decision.headers()
    if not decision.allowed:
        raise decision.refusal()
    if hook is None:
        raise IncomingWebhookNotFound
    return hook


def _verify(ctx: Context, hook: IncomingWebhook, headers: RequestHeaders, body: bytes) -> None:
    if hook.secret is None:
        return
    signed_request = SignedRequest(
        headers=headers,
        header=hook.verification_header or "",
        body=body,
        secret=hook.secret.open(ctx.instance.ring),
        now=ctx.clock.time(),
    )
    verify(hook.verification_type, signed_request)


async def _require_capacity(ctx: Context, hook: IncomingWebhook) -> None:
    if hook.workflow_id is None or await queries.count_queued(ctx, hook) < MAX_QUEUED_PAYLOADS:
        return
    raise PayloadQueueFull(
        limit=MAX_QUEUED_PAYLOADS,
        window=_RETRY_AFTER_SECONDS,
        retry_after=_RETRY_AFTER_SECONDS,
        reset=int(ctx.clock.time()) + _RETRY_AFTER_SECONDS,
        message=PayloadQueueFull.__doc__,
    )


def _build_payload(
    ctx: Context, hook: IncomingWebhook, request: Request, headers: RequestHeaders
) -> ReceivedPayload:
    return ReceivedPayload(
        incoming_webhook_id=hook.id,
        payload=None,
        payload_bytes=0,
        headers=headers.loggable(hook.verification_header),
        query=loggable_query(request.query_pairs()),
        content_type=loggable_content_type(headers),
        source_ip=ctx.caller.ip_address,
        event_id="",
        correlation_id=ctx.caller.correlation_id,
    )


async def _store_or_duplicate(
    ctx: Context, sender: Caller, hook: IncomingWebhook, new_payload: ReceivedPayload, payload: Any
) -> Receipt:
    try:
        async with _context_for(ctx, sender) as unit:
            await store_payload(unit, hook, new_payload, payload)
            queries.count_received(unit, hook)
    except DuplicateDelivery:
        async with _context_for(ctx, sender) as unit:
            first = await _store_duplicate(unit, new_payload)
        return Receipt.of(first, received=True, duplicate=True, challenge=UNSET)
    return Receipt(id=new_payload.id, event_id=new_payload.event_id)


async def _store_duplicate(ctx: Context, new_payload: ReceivedPayload) -> ReceivedPayload:
    """Record the duplicate without its payload; return the first delivery."""
    first = await ctx.db.find(
        ReceivedPayload,
        incoming_webhook_id=new_payload.incoming_webhook_id,
        delivery_key=new_payload.delivery_key,
    )
    if first is None:
        raise Unavailable
    new_payload.id = new_id(ReceivedPayload.__prefix__)
    new_payload.payload, new_payload.delivery_key, new_payload.duplicate_of = None, None, first.id
    new_payload.status, new_payload.is_waiting = ReceivedStatus.duplicate, False
    new_payload.event_id = first.event_id
    await ctx.db.insert_at_commit(new_payload)
    return first


def _sender_caller(ctx: Context, hook: IncomingWebhook, headers: RequestHeaders) -> Caller:
    """Return a caller that acts as the webhook and continues the sender's hop count."""
    actor = {"type": "incoming_webhook", "id": hook.id}
    return msgspec.structs.replace(
        ctx.caller, actor=actor, hops=hop_count.parse_hops(headers.single(hop_count.HOPS_HEADER) or "")
    )


def _context_for(ctx: Context, sender: Caller) -> Context:
    sender_ctx = Context(ctx.instance, ctx.principal, sender)
    sender_ctx.bind_tenant(ctx.tenant_id)
    return sender_ctx


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


def _slack_challenge(hook: IncomingWebhook, payload: Any) -> str | None:
    """Return the challenge that Slack sends to verify a URL and expects back."""
    if hook.verification_type is not VerificationType.slack or not isinstance(payload, dict):
        return None
    challenge = payload.get("challenge")
    is_challenge = payload.get("type") == "url_verification" and isinstance(challenge, str)
    return challenge if is_challenge else None
