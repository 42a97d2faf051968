"""One attempt: the body is signed and posted, and whatever comes of it is told, never raised."""

from email.utils import parsedate_to_datetime

import msgspec
import structlog

from retinue import __version__
from retinue.kit import hops
from retinue.kit.clock import Clock, Instant, instant_at
from retinue.kit.context import Context
from retinue.kit.egress import Egress, Response
from retinue.kit.errors import RetinueError
from retinue.kit.failpoints import failpoint
from retinue.kit.webhook_signing import signature_headers
from retinue.webhooks.secrets import Opened, previous_of

log = structlog.get_logger("retinue.webhooks")

TIMEOUT_S = 15.0

_KEPT_BYTES = 4096
# Half a secret would not be found, so what is kept is cut off only after every secret was taken out of it.
_LOOKED_AT_BYTES = 2 * _KEPT_BYTES
# A little more is read, so that the connection of a talkative receiver can be used again.
_READ_BYTES = 64 * 1024
_STALL_S = 5.0
_AGENT = f"Retinue/{__version__}"


class ToSend(msgspec.Struct):
    delivery_id: str
    event_id: str
    event_type: str
    url: str
    body: bytes
    opened: Opened
    previous_until: Instant | None
    attempts_made: int


class Sent(msgspec.Struct):
    """How an attempt ended; without an `error` it succeeded."""

    delivery_id: str
    webhook_id: str
    started_at: Instant
    response_time_ms: int
    response_code: int | None = None
    response_body: str | None = None
    error: str | None = None
    error_message: str | None = None
    retry_after_s: float = 0.0
    is_manual: bool = False
    is_test: bool = False


async def send(ctx: Context, webhook_id: str, what: ToSend) -> Sent:
    clock = ctx.clock
    at = clock.time()
    headers = _headers(ctx, what, at)
    sent = Sent(what.delivery_id, webhook_id, instant_at(at), 0)
    started = clock.monotonic()
    failpoint("before_webhook_send")
    try:
        async with ctx.adapter(Egress).request(
            "POST",
            what.url,
            headers=headers,
            content=what.body,
            timeout_s=TIMEOUT_S,
            stall_timeout_s=_STALL_S,
            max_bytes=_READ_BYTES,
            require_https=True,
        ) as response:
            sent.response_code = response.status
            sent.response_time_ms = _since(clock, started)
            sent.retry_after_s = _asked_pause_s(clock, response.headers.get("Retry-After", ""))
            sent.response_body = _shown(what.opened, await _beginning(response))
    except RetinueError as error:
        sent.error, sent.error_message = error.code, error.message
    except Exception:
        log.exception("webhook_attempt_failed", delivery_id=what.delivery_id)
        sent.error, sent.error_message = "internal_error", "The attempt failed unexpectedly."
    failpoint("after_webhook_send")
    return _judged(sent, _since(clock, started))


def _judged(sent: Sent, time_ms: int) -> Sent:
    """An answer counts by its status, whatever became of the rest of it."""
    code = sent.response_code
    if code is None:
        sent.response_time_ms = time_ms
        return sent
    is_success = 200 <= code < 300
    sent.error = None if is_success else "http_error"
    sent.error_message = None if is_success else f"The receiver answered with status {code}."
    return sent


def _headers(ctx: Context, what: ToSend, at: float) -> dict[str, str]:
    secrets = what.opened.secrets
    headers = {
        **what.opened.headers,
        **plain_headers(what.delivery_id, what.event_id, what.event_type),
        **signature_headers(
            secrets.current,
            event_id=what.event_id,
            timestamp=int(at),
            body=what.body,
            previous=previous_of(secrets, what.previous_until, instant_at(at)),
        ),
        "X-Correlation-ID": ctx.caller.correlation_id,
        hops.HEADER: str(ctx.caller.hops),
    }
    if what.attempts_made:
        headers["X-Service-Retry-Count"] = str(what.attempts_made)
    return headers


def plain_headers(delivery_id: str, event_id: str, event_type: str) -> dict[str, str]:
    """The headers that are the same in every attempt."""
    return {
        "Content-Type": "application/json",
        "User-Agent": _AGENT,
        "X-Service-Event": event_type,
        "X-Service-Event-Id": event_id,
        "X-Service-Delivery-Id": delivery_id,
    }


async def _beginning(response: Response) -> bytes:
    """What of the answer is kept; a receiver that says more, or never ends, is not listened to."""
    kept, seen = bytearray(), 0
    try:
        async for piece in response.iter_bytes():
            kept += piece[: _LOOKED_AT_BYTES - len(kept)]
            seen += len(piece)
            if seen >= _READ_BYTES:
                break
    except RetinueError:
        pass
    return bytes(kept)


def _shown(opened: Opened, content: bytes) -> str | None:
    if not content:
        return None
    text = content.decode(errors="replace").replace("\0", "")
    return opened.redactor.text(text).encode()[:_KEPT_BYTES].decode(errors="ignore")


def _since(clock: Clock, started: float) -> int:
    return max(0, round((clock.monotonic() - started) * 1000))


def _asked_pause_s(clock: Clock, retry_after: str) -> float:
    """Seconds or a date; what is neither was not asked."""
    if not retry_after:
        return 0.0
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:12])
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - clock.time())
    except (ValueError, OverflowError):
        return 0.0
