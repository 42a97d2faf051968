"""Messages to addresses that someone gave, signed with the tenant's secret and tried as often as a webhook's.

Whoever asks for one stores it in the transaction of what it tells of; the same bytes are sent every time.
"""

import random
from collections.abc import Mapping

import msgspec
import structlog

from retinue import __version__
from retinue.events import signing
from retinue.events.errors import MessageRefused
from retinue.events.models import SignedMessage
from retinue.kit import hops
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers
from retinue.kit.errors import Invalid, RetinueError, VaultSealed
from retinue.kit.jobs.declare import GiveUp, Retry, RetryLater, job
from retinue.kit.webhook_signing import ATTEMPT_DELAYS, signature_headers

log = structlog.get_logger("retinue.events")

_PATIENCE_S = 15
_JITTER = 0.1


class MessageToPost(msgspec.Struct):
    message_id: str


class _Content(msgspec.Struct, array_like=True):
    headers: dict[str, str]
    body: bytes


def check_url(ctx: Context, url: str, field: str) -> None:
    """By its text alone; the address behind it is checked whenever something is sent there."""
    try:
        ctx.adapter(Egress).check(url, require_https=True)
    except EgressRefused as error:
        message = "must be https" if error.reason == "https_required" else error.message
        raise Invalid({field: message}) from None


def check_message_headers(headers: Mapping[str, str], field: str) -> None:
    try:
        check_custom_headers(headers)
    except EgressRefused as error:
        raise Invalid({field: error.message}) from None


async def post_signed(
    ctx: Context,
    *,
    url: str,
    headers: Mapping[str, str] | None = None,
    body: bytes,
    event_id: str,
    event_type: str,
) -> str:
    """Have a worker post this once the transaction is committed; the id of the message."""
    await signing.ensure(ctx)
    message = await ctx.db.insert(
        SignedMessage(
            url=url,
            content=Sealed.of(msgspec.msgpack.encode(_Content(dict(headers or {}), body))),
            event_id=event_id,
            event_type=event_type,
        )
    )
    ctx.defer(post_message, MessageToPost(message.id), dedupe_key=message.id, lane=_lane(url))
    return message.id


@job(
    queue="messages",
    retry=Retry(ATTEMPT_DELAYS),
    timeout_s=_PATIENCE_S + 15,
    transactional=False,
    per_lane=4,
)
async def post_message(ctx: Context, payload: MessageToPost) -> None:
    message = await ctx.db.get(SignedMessage, payload.message_id)
    if message is None:
        return
    try:
        retry_after_s = await _attempt(ctx, message)
    except (VaultSealed, DatabaseUnavailable):
        # Not the receiver's fault, so it is no attempt.
        raise
    except RetinueError as error:
        await _again_or_not(ctx, message, error, None)
        return
    if retry_after_s is not None:
        await _again_or_not(ctx, message, MessageRefused(), retry_after_s)
        return
    await _forget(ctx, message)


async def _attempt(ctx: Context, message: SignedMessage) -> float | None:
    """None when the receiver took it, otherwise for how long it wants to be left alone."""
    content = msgspec.msgpack.decode(message.content.open(ctx.instance.ring), type=_Content)
    headers = await _headers(ctx, message, content)
    async with ctx.adapter(Egress).request(
        "POST", message.url, timeout_s=_PATIENCE_S, headers=headers, content=content.body, require_https=True
    ) as answer:
        if 200 <= answer.status < 300:
            return None
        wanted = answer.headers.get("Retry-After", "")
        return float(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 9 else 0.0


async def _headers(ctx: Context, message: SignedMessage, content: _Content) -> dict[str, str]:
    keys = await signing.keys(ctx)
    ours = {
        "Content-Type": "application/json",
        "User-Agent": f"Retinue/{__version__}",
        "X-Service-Event": message.event_type,
        "X-Service-Event-Id": message.event_id,
        "X-Service-Delivery-Id": message.id,
        hops.HEADER: str(ctx.caller.hops),
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
        ours["X-Service-Retry-Count"] = str(ctx.caller.attempt - 1)
    our_names = {name.lower() for name in ours}
    theirs = {name: value for name, value in content.headers.items() if name.lower() not in our_names}
    return {**theirs, **ours}


async def _again_or_not(
    ctx: Context, message: SignedMessage, error: RetinueError, retry_after_s: float | None
) -> None:
    """The delays of the schedule are minimums; who asks for more time gets up to twice as much."""
    delays = ctx.settings.webhook_retry_schedule
    attempt = ctx.caller.attempt
    if attempt >= len(delays):
        await _forget(ctx, message)
        raise GiveUp(error.message)
    delay_s = delays[attempt] * (1 + random.random() * _JITTER)  # noqa: S311  not a secret
    raise RetryLater(max(delay_s, min(retry_after_s or 0, 2 * delays[attempt])), error.message)


async def _forget(ctx: Context, message: SignedMessage) -> None:
    async with ctx.unit() as unit:
        await unit.db.delete(message)


def _lane(url: str) -> str:
    """What goes to one address waits in one line."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0][:200]
