"""One delivery attempt: sign and post the body. Failures are returned, never raised."""

import msgspec
import structlog

from retinue import __version__
from retinue.kit import hop_count
from retinue.kit.clock import Clock, Instant, instant_from_timestamp
from retinue.kit.context import Context
from retinue.kit.egress import Egress, Response
from retinue.kit.egress.retry_after import parse_retry_after
from retinue.kit.errors import RetinueError
from retinue.kit.failpoints import failpoint
from retinue.kit.webhook_signing import signature_headers
from retinue.webhooks.signing_secrets import OpenedWebhook, active_previous_secret

log = structlog.get_logger("retinue.webhooks")

TIMEOUT_SECONDS = 15.0

_MAX_KEPT_BYTES = 4096
# Redacted before it is truncated, because the redactor would not recognize half a secret.
_MAX_SCANNED_BYTES = 2 * _MAX_KEPT_BYTES
# More is read than kept, so that the connection can be reused.
_MAX_READ_BYTES = 64 * 1024
_STALL_SECONDS = 5.0
_USER_AGENT = f"Retinue/{__version__}"


class AttemptRequest(msgspec.Struct):
    """A delivery to send. `max_retry_after_s` bounds the pause that the receiver may ask for."""

    delivery_id: str
    event_id: str
    event_type: str
    url: str
    body: bytes
    opened: OpenedWebhook
    previous_until: Instant | None
    attempts_made: int
    max_retry_after_s: float = 0.0


class AttemptOutcome(msgspec.Struct):
    """The result of an attempt; it succeeded if `error` is None."""

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


async def send_attempt(ctx: Context, webhook_id: str, request: AttemptRequest) -> AttemptOutcome:
    clock = ctx.clock
    at = clock.time()
    headers = _headers(ctx, request, at)
    outcome = AttemptOutcome(request.delivery_id, webhook_id, instant_from_timestamp(at), 0)
    started = clock.monotonic()
    failpoint("before_webhook_send")
    try:
        async with ctx.adapter(Egress).request(
            "POST",
            request.url,
            headers=headers,
            content=request.body,
            timeout_s=TIMEOUT_SECONDS,
            stall_timeout_s=_STALL_SECONDS,
            max_bytes=_MAX_READ_BYTES,
            require_https=True,
        ) as response:
            outcome.response_code = response.status
            outcome.response_time_ms = _elapsed_ms(clock, started)
            outcome.retry_after_s = _retry_after_s(response, clock, request.max_retry_after_s)
            outcome.response_body = _redacted_body(request.opened, await _read_beginning(response))
    except RetinueError as error:
        outcome.error, outcome.error_message = error.code, error.message
    except Exception:
        log.exception("webhook_attempt_failed", delivery_id=request.delivery_id)
        outcome.error, outcome.error_message = "internal_error", "The attempt failed unexpectedly."
    failpoint("after_webhook_send")
    return _classify(outcome, _elapsed_ms(clock, started))


def _classify(outcome: AttemptOutcome, time_ms: int) -> AttemptOutcome:
    """Judge a response by its status, even if reading its body failed."""
    code = outcome.response_code
    if code is None:
        outcome.response_time_ms = time_ms
        return outcome
    is_success = 200 <= code < 300
    outcome.error = None if is_success else "http_error"
    outcome.error_message = None if is_success else f"The receiver answered with status {code}."
    return outcome


def _headers(ctx: Context, request: AttemptRequest, at: float) -> dict[str, str]:
    secrets = request.opened.secrets
    headers = {
        **request.opened.headers,
        **static_headers(request.delivery_id, request.event_id, request.event_type),
        **signature_headers(
            secrets.current,
            event_id=request.event_id,
            timestamp=int(at),
            body=request.body,
            previous=active_previous_secret(secrets, request.previous_until, instant_from_timestamp(at)),
        ),
        "X-Correlation-ID": ctx.caller.correlation_id,
        hop_count.HOPS_HEADER: str(ctx.caller.hops),
    }
    if request.attempts_made:
        headers["X-Service-Retry-Count"] = str(request.attempts_made)
    return headers


def static_headers(delivery_id: str, event_id: str, event_type: str) -> dict[str, str]:
    """Return the headers that are equal in every attempt."""
    return {
        "Content-Type": "application/json",
        "User-Agent": _USER_AGENT,
        "X-Service-Event": event_type,
        "X-Service-Event-Id": event_id,
        "X-Service-Delivery-Id": delivery_id,
    }


async def _read_beginning(response: Response) -> bytes:
    """Return the beginning of the response body; stop at the limit or at the first error."""
    kept, seen = bytearray(), 0
    try:
        async for piece in response.iter_bytes():
            kept += piece[: _MAX_SCANNED_BYTES - len(kept)]
            seen += len(piece)
            if seen >= _MAX_READ_BYTES:
                break
    except RetinueError:
        pass
    return bytes(kept)


def _redacted_body(opened: OpenedWebhook, content: bytes) -> str | None:
    if not content:
        return None
    text = content.decode(errors="replace").replace("\0", "")
    return opened.redactor.text(text).encode()[:_MAX_KEPT_BYTES].decode(errors="ignore")


def _elapsed_ms(clock: Clock, started: float) -> int:
    return max(0, round((clock.monotonic() - started) * 1000))


def _retry_after_s(response: Response, clock: Clock, max_seconds: float) -> float:
    if 200 <= response.status < 300:
        return 0.0
    return parse_retry_after(response.headers, clock.time(), max_seconds=max_seconds) or 0.0
