"""One attempt to send a message through a channel, with no transaction open."""

import asyncio

import msgspec
import structlog

from retinue.adapters.notifiers import InvalidConfig, NotificationMessage, ProviderRefused, SendContext, send
from retinue.kit.context import Context
from retinue.kit.egress import EgressRefused
from retinue.kit.errors import Invalid, RetinueError, Unavailable, VaultSealed
from retinue.kit.json_types import JsonObject
from retinue.kit.text.redaction import Redactor
from retinue.kit.tracing import names
from retinue.kit.tracing.recorder import unit_span
from retinue.notifications.delivery.resolved_channel import CREDENTIAL_REFUSALS, resolve_channel
from retinue.notifications.models import RECIPIENT_KEYS, Channel, DeliveryContent

log = structlog.get_logger("retinue.notifications")

_MAX_ERROR_LENGTH = 500
# A backstop: senders have shorter timeouts of their own.
_TIMEOUT_SECONDS = 40.0


class DeliveryOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an attempt. `is_final`: another attempt with this channel would not help."""

    is_delivered: bool
    time_ms: int
    code: str = ""
    message: str = ""
    is_final: bool = False
    retry_after_s: float = 0.0


def refused_outcome(code: str, message: str) -> DeliveryOutcome:
    """Return the outcome of a delivery that was not attempted."""
    return DeliveryOutcome(is_delivered=False, time_ms=0, code=code, message=message, is_final=True)


def default_recipient(channel: Channel) -> str:
    """Return the recipient of a channel when no user is named; empty if the provider needs none."""
    names = RECIPIENT_KEYS.get(channel.type, ())
    return next((str(channel.config[name]) for name in names if channel.config.get(name)), "")


async def attempt_delivery(ctx: Context, channel: Channel, message: NotificationMessage) -> DeliveryOutcome:
    with unit_span(f"send {channel.provider}", "channel") as span:
        outcome = await _attempt_within_span(ctx, channel, message)
        if span is not None:
            span.set({names.CHANNEL: str(channel.provider)})
            if not outcome.is_delivered:
                span.fail(outcome.code, outcome.message or outcome.code)
    return outcome


async def _attempt_within_span(
    ctx: Context, channel: Channel, message: NotificationMessage
) -> DeliveryOutcome:
    started = ctx.clock.monotonic()
    redactor = Redactor([])
    try:
        with redactor.guarding_logs():
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                await _send(ctx, channel, message, redactor)
    except (VaultSealed, Unavailable):
        raise
    except RetinueError as error:
        failure = _failure(error)
    except TimeoutError:
        failure = {"code": ProviderRefused.code, "message": "The provider did not answer in time."}
    except Exception as error:
        # A bug in a sender must neither leave the delivery pending nor expose the content it failed on.
        log.exception("sender_failed", provider=channel.provider)
        failure = {"code": ProviderRefused.code, "message": f"The sender failed ({type(error).__name__})."}
    else:
        return DeliveryOutcome(is_delivered=True, time_ms=_elapsed_ms(ctx, started))
    failure["message"] = redactor.text(failure["message"])[:_MAX_ERROR_LENGTH]
    return DeliveryOutcome(is_delivered=False, time_ms=_elapsed_ms(ctx, started), **failure)


async def _send(ctx: Context, channel: Channel, message: NotificationMessage, redactor: Redactor) -> None:
    resolved = await resolve_channel(ctx, channel)
    redactor.add(*resolved.hidden)
    message = msgspec.structs.replace(message, hops=ctx.caller.hops)
    await send(ctx.adapter(SendContext), resolved.provider, resolved.config, message)


def _failure(error: RetinueError) -> JsonObject:
    if isinstance(error, ProviderRefused):
        wait_s = error.retry_after_s or 0.0
        return {
            "code": error.code,
            "message": error.message,
            "is_final": error.is_permanent,
            "retry_after_s": wait_s,
        }
    if isinstance(error, InvalidConfig | Invalid):
        named = "; ".join(f"{name} {problem}" for name, problem in (error.details or {}).items())
        return {"code": InvalidConfig.code, "message": f"{error.message} {named}".strip(), "is_final": True}
    is_final = isinstance(error, (*CREDENTIAL_REFUSALS, EgressRefused))
    return {"code": error.code, "message": error.message, "is_final": is_final}


def _elapsed_ms(ctx: Context, started: float) -> int:
    return max(0, round((ctx.clock.monotonic() - started) * 1000))


def build_message(recipient: str, subject: str, content: DeliveryContent, id: str) -> NotificationMessage:
    return NotificationMessage(
        recipient=recipient, subject=subject, text=content.text, html=content.html, data=content.data, id=id
    )
