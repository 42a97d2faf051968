"""Posting spans to an OTLP/HTTP receiver."""

import asyncio
import gzip
from collections.abc import Sequence
from typing import Literal

import msgspec

from retinue import __version__
from retinue.kit.context import Context
from retinue.kit.egress import Egress, Response
from retinue.kit.egress.retry_after import parse_retry_after
from retinue.kit.errors import RetinueError
from retinue.traces import otlp_protobuf
from retinue.traces.models import OtlpEncoding
from retinue.traces.otlp import OutgoingSpan, encode_json, resource_attributes

PATH = "/v1/traces"
TIMEOUT_SECONDS = 15
MAX_RETRY_AFTER_SECONDS = 900.0
_MAX_ANSWER_BYTES = 64 * 1024
_COMPRESSION_LEVEL = 1
_MIME_TYPES: dict[OtlpEncoding, str] = {
    OtlpEncoding.protobuf: "application/x-protobuf",
    OtlpEncoding.json: "application/json",
}
_RETRYABLE = frozenset({408, 429})


class OtlpReceiver(msgspec.Struct, frozen=True):
    endpoint: str
    headers: dict[str, str]
    encoding: OtlpEncoding
    egress: Egress

    @property
    def url(self) -> str:
        base = self.endpoint.rstrip("/")
        return base if base.endswith(PATH) else f"{base}{PATH}"


class ReceiverAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`postponed` spans are sent again, `refused` ones never. `error` says what went wrong."""

    outcome: Literal["accepted", "refused", "postponed"]
    rejected_count: int = 0
    error: str | None = None
    retry_after_s: float | None = None


async def post_spans(ctx: Context, receiver: OtlpReceiver, spans: Sequence[OutgoingSpan]) -> ReceiverAnswer:
    # In a thread: a full batch would hold up everything else for some 20 ms.
    body = await asyncio.to_thread(_encode, ctx, receiver.encoding, spans)
    own = {"Content-Type": _MIME_TYPES[receiver.encoding], "User-Agent": f"Retinue/{__version__}"}
    taken = {name.lower() for name in own}
    given = {name: value for name, value in receiver.headers.items() if name.lower() not in taken}
    try:
        async with receiver.egress.request(
            "POST",
            receiver.url,
            timeout_s=TIMEOUT_SECONDS,
            headers={**given, **own},
            content=body,
            content_encoding="gzip",
            max_bytes=_MAX_ANSWER_BYTES,
            require_https=True,
        ) as response:
            if 200 <= response.status < 300:
                return _accepted(receiver.encoding, await _read(response))
            error = f"The receiver answered {response.status}."
            if response.status in _RETRYABLE or response.status >= 500:
                pause_s = parse_retry_after(
                    response.headers, ctx.clock.time(), max_seconds=MAX_RETRY_AFTER_SECONDS
                )
                return ReceiverAnswer(outcome="postponed", error=error, retry_after_s=pause_s)
            return ReceiverAnswer(outcome="refused", error=error)
    except RetinueError as error:
        return ReceiverAnswer(outcome="postponed", error=error.message)


def _encode(ctx: Context, encoding: OtlpEncoding, spans: Sequence[OutgoingSpan]) -> bytes:
    encode = otlp_protobuf.encode_protobuf if encoding is OtlpEncoding.protobuf else encode_json
    return gzip.compress(encode(resource_attributes(ctx.settings), spans), _COMPRESSION_LEVEL)


async def _read(response: Response) -> bytes:
    """Return the body; what is missing of it changes nothing about a batch that was accepted."""
    try:
        return await response.read()
    except RetinueError:
        return b""


class _PartialSuccess(msgspec.Struct, rename="camel"):
    rejected_spans: int | str = 0


class _JsonAnswer(msgspec.Struct, rename="camel"):
    partial_success: _PartialSuccess | None = None


def _accepted(encoding: OtlpEncoding, body: bytes) -> ReceiverAnswer:
    rejected = (
        otlp_protobuf.rejected_span_count(body)
        if encoding is OtlpEncoding.protobuf
        else _rejected_in_json(body)
    )
    if rejected <= 0:
        return ReceiverAnswer(outcome="accepted")
    error = f"The receiver rejected {rejected} spans of a batch."
    return ReceiverAnswer(outcome="accepted", rejected_count=rejected, error=error)


def _rejected_in_json(body: bytes) -> int:
    try:
        answer = msgspec.json.decode(body, type=_JsonAnswer)
        return int(answer.partial_success.rejected_spans) if answer.partial_success is not None else 0
    except (msgspec.MsgspecError, ValueError):
        return 0
