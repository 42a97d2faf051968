"""One attempt to hand a message to the provider of a channel, with no transaction open."""

import asyncio
from typing import Any

import msgspec
import structlog

from retinue.adapters.notifying import InvalidConfig, Message, Outside, ProviderRefused, send
from retinue.kit.context import Context
from retinue.kit.egress import EgressRefused
from retinue.kit.errors import Invalid, RetinueError, Unavailable, VaultSealed
from retinue.kit.redaction import Redactor
from retinue.notifications.models import Channel, ChannelType, Content
from retinue.notifications.opening import REFUSALS, opened

log = structlog.get_logger("retinue.notifications")

_LONGEST_ERROR = 500
# The senders have a shorter patience of their own; this one is for what they do not think of.
_PATIENCE_S = 40.0
_TARGETS = {ChannelType.email: ("to_email", "to"), ChannelType.sms: ("to_number", "to")}


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it; one that is `is_final` is not worth another attempt with this channel."""

    is_delivered: bool
    time_ms: int
    code: str = ""
    message: str = ""
    is_final: bool = False
    retry_after_s: float = 0.0


def refused(code: str, message: str) -> Outcome:
    """What was not even tried."""
    return Outcome(is_delivered=False, time_ms=0, code=code, message=message, is_final=True)


def target_of(channel: Channel) -> str:
    """Whom a channel reaches if nobody is named; empty for what its provider knows itself."""
    names = _TARGETS.get(channel.type, ())
    return next((str(channel.config[name]) for name in names if channel.config.get(name)), "")


async def attempt(ctx: Context, channel: Channel, message: Message) -> Outcome:
    started = ctx.clock.monotonic()
    redactor = Redactor([])
    try:
        with redactor.guarding_logs():
            async with asyncio.timeout(_PATIENCE_S):
                await _send(ctx, channel, message, redactor)
    except (VaultSealed, Unavailable):
        raise
    except RetinueError as error:
        failure = _failure(error)
    except TimeoutError:
        failure = {"code": ProviderRefused.code, "message": "The provider did not answer in time."}
    except Exception as error:
        # A sender's own mistake must neither keep the delivery pending for ever nor show what it choked on.
        log.exception("a sender failed", provider=channel.provider)
        failure = {"code": ProviderRefused.code, "message": f"The sender failed ({type(error).__name__})."}
    else:
        return Outcome(is_delivered=True, time_ms=_since(ctx, started))
    failure["message"] = redactor.text(failure["message"])[:_LONGEST_ERROR]
    return Outcome(is_delivered=False, time_ms=_since(ctx, started), **failure)


async def _send(ctx: Context, channel: Channel, message: Message, redactor: Redactor) -> None:
    ready = await opened(ctx, channel)
    redactor.add(*ready.hidden)
    message = msgspec.structs.replace(message, hops=ctx.caller.hops)
    await send(ctx.adapter(Outside), ready.provider, ready.config, message)


def _failure(error: RetinueError) -> dict[str, Any]:
    if isinstance(error, ProviderRefused):
        wait_s = error.retry_after_s or 0.0
        return {
            "code": error.code,
            "message": error.message,
            "is_final": error.is_permanent,
            "retry_after_s": wait_s,
        }
    if isinstance(error, InvalidConfig | Invalid):
        named = "; ".join(f"{name} {what}" for name, what in (error.details or {}).items())
        return {"code": InvalidConfig.code, "message": f"{error.message} {named}".strip(), "is_final": True}
    is_final = isinstance(error, (*REFUSALS, EgressRefused))
    return {"code": error.code, "message": error.message, "is_final": is_final}


def _since(ctx: Context, started: float) -> int:
    return max(0, round((ctx.clock.monotonic() - started) * 1000))


def as_message(recipient: str, subject: str, content: Content, id: str) -> Message:
    return Message(
        recipient=recipient, subject=subject, text=content.text, html=content.html, data=content.data, id=id
    )
