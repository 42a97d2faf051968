"""Messages to configured URLs, signed with the tenant's secret and retried like webhook deliveries.

A message is stored in the caller's transaction (ADR 3); every attempt sends the same bytes.
"""

import random
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from retinue import __version__
from retinue.events import signing, subscription_outcomes
from retinue.events.errors import MessageRefused
from retinue.events.job_kinds import POST_MESSAGE, MessageToPost
from retinue.events.models import SignedMessage
from retinue.kit import hop_count
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.egress import Egress
from retinue.kit.egress.retry_after import parse_retry_after
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.jobs.declare import GiveUp, RetryLater
from retinue.kit.tracing.recorder import unit_span
from retinue.kit.webhook_signing import signature_headers

TIMEOUT_SECONDS = 15
_JITTER = 0.1


class _Content(msgspec.Struct, array_like=True):
    headers: dict[str, str]
    body: bytes


class _Refusal(msgspec.Struct):
    """Why an attempt failed, and for how many seconds the receiver asked to wait."""

    error: RetinueError
    retry_after_s: float


def check_url(ctx: Context, url: str, field: str) -> None:
    """Validate the text of the URL; the address it resolves to is checked for each attempt."""
    ctx.adapter(Egress).check_field(url, field)


async def enqueue_signed_message(
    ctx: Context,
    *,
    url: str,
    headers: Mapping[str, str] | None = None,
    body: bytes,
    event_id: str,
    event_type: str,
    subscription_id: str | None = None,
) -> str:
    """Enqueue a message that is posted after the commit; return its id.

    The outcome of each attempt is recorded with the subscription, if one sends it.
    """
    await signing.ensure_secret(ctx)
    message = await ctx.db.insert(
        SignedMessage(
            url=url,
            content=Sealed.of(msgspec.msgpack.encode(_Content(dict(headers or {}), body))),
            event_id=event_id,
            event_type=event_type,
        )
    )
    payload = MessageToPost(message.id, subscription_id)
    ctx.defer(POST_MESSAGE, payload, dedupe_key=message.id, lane=_lane(url))
    return message.id


async def post_message(ctx: Context, payload: MessageToPost) -> None:
    message = await ctx.db.get(SignedMessage, payload.message_id)
    if message is None:
        return
    try:
        with unit_span(f"deliver {urlsplit(message.url).hostname}", "delivery"):
            refusal = await _post(ctx, message)
    except (VaultSealed, DatabaseUnavailable):
        # Not the receiver's fault, so it is no attempt.
        raise
    except RetinueError as error:
        refusal = _Refusal(error, 0.0)
    if refusal is not None:
        await _retry_or_give_up(ctx, message, refusal, payload.subscription_id)
        return
    async with ctx.unit() as unit:
        await unit.db.delete(message)
        if payload.subscription_id is not None:
            await subscription_outcomes.clear_failures(unit, payload.subscription_id)


async def _post(ctx: Context, message: SignedMessage) -> _Refusal | None:
    """Return None if the receiver accepted it."""
    content = msgspec.msgpack.decode(message.content.open(ctx.instance.ring), type=_Content)
    headers = await _headers(ctx, message, content)
    async with ctx.adapter(Egress).request(
        "POST",
        message.url,
        timeout_s=TIMEOUT_SECONDS,
        headers=headers,
        content=content.body,
        require_https=True,
    ) as response:
        if 200 <= response.status < 300:
            return None
        max_seconds = _max_retry_after_s(ctx)
        retry_after_s = parse_retry_after(response.headers, ctx.clock.time(), max_seconds=max_seconds)
        return _Refusal(MessageRefused(f"The receiver answered {response.status}."), retry_after_s or 0.0)


async def _headers(ctx: Context, message: SignedMessage, content: _Content) -> dict[str, str]:
    keys = await signing.current_keys(ctx)
    own_headers = {
        "Content-Type": "application/json",
        "User-Agent": f"Retinue/{__version__}",
        "X-Service-Event": message.event_type,
        "X-Service-Event-Id": message.event_id,
        "X-Service-Delivery-Id": message.id,
        hop_count.HOPS_HEADER: str(ctx.caller.hops),
        "X-Correlation-ID": ctx.caller.correlation_id,
        **signature_headers(
            keys.secret,
            event_id=message.event_id,
            timestamp=int(ctx.clock.time()),
            body=content.body,
            previous=keys.previous,
        ),
    }
    if ctx.caller.attempt > 1:
        own_headers["X-Service-Retry-Count"] = str(ctx.caller.attempt - 1)
    own_names = {name.lower() for name in own_headers}
    custom_headers = {name: value for name, value in content.headers.items() if name.lower() not in own_names}
    return {**custom_headers, **own_headers}


async def _retry_or_give_up(
    ctx: Context, message: SignedMessage, refusal: _Refusal, subscription_id: str | None
) -> None:
    """Retry by the schedule; `Retry-After` may extend a delay."""
    delays = ctx.settings.webhook_retry_schedule
    attempt, reason = ctx.caller.attempt, refusal.error.message
    async with ctx.unit() as unit:
        if subscription_id is not None:
            await subscription_outcomes.count_failure(unit, subscription_id, reason)
        if attempt >= len(delays):
            await unit.db.delete(message)
    if attempt >= len(delays):
        raise GiveUp(reason)
    delay_s = delays[attempt] * (1 + random.random() * _JITTER)  # noqa: S311  not a secret
    raise RetryLater(max(delay_s, refusal.retry_after_s), reason)


def _max_retry_after_s(ctx: Context) -> float:
    """Return twice the scheduled delay; 0 after the last attempt."""
    delays = ctx.settings.webhook_retry_schedule
    attempt = ctx.caller.attempt
    return 2.0 * delays[attempt] if attempt < len(delays) else 0.0


def _lane(url: str) -> str:
    """Return the host of the URL: messages to one host share a lane."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0][:200]
