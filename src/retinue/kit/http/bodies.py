"""Request bodies, read within a limit and checked before decoding."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from retinue.kit.errors import Invalid, InvalidJson, PayloadTooLarge

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_NUL_ESCAPE = b"\\u0000"
_BACKSLASH = ord("\\")
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


class ClientGone(Exception):
    """The client has closed the connection, so no response can be sent."""


async def read_body(receive: Receive, limit: int, content_length: bytes | None) -> bytes:
    """Return the whole body; raise `PayloadTooLarge` as soon as it exceeds the limit."""
    if content_length is not None and _is_over(content_length, limit):
        raise PayloadTooLarge
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    body: bytes = message.get("body", b"")
    if len(body) > limit:
        raise PayloadTooLarge
    if not message.get("more_body", False):
        return body
    return await _read_rest(receive, limit, body)


def _is_over(content_length: bytes, limit: int) -> bool:
    """Return whether the declared length exceeds the limit; an invalid one is ignored, bytes are counted."""
    if not content_length.isdigit():
        return False
    digits = content_length.lstrip(b"0")
    return len(digits) > 18 or int(digits or b"0") > limit


async def _read_rest(receive: Receive, limit: int, first: bytes) -> bytes:
    parts = [first]
    size = len(first)
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise PayloadTooLarge
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def check_json_shape(body: bytes, *, max_depth: int = 64, max_keys: int | None = 10_000) -> None:
    """Refuse JSON that is too deep, has too many keys, or contains U+0000, which PostgreSQL cannot store.

    Without `max_keys` the shape is not looked at: of a body whose large part stays as it is (`msgspec.Raw`),
    which takes a tenth of the time.
    """
    if max_keys is not None:
        _check_shape(body, max_depth, max_keys)
    if _BACKSLASH in body and _NUL_ESCAPE in body and _NUL_ESCAPE in body.replace(b"\\\\", b""):
        raise Invalid({"body": "must not contain the character U+0000"})


def _check_shape(body: bytes, max_depth: int, max_keys: int) -> None:
    # Brackets and colons inside strings are included, so this never counts too few. `replace` uses memchr and
    # takes a third of the time of `count`; a key needs at least the five bytes `"":0,`.
    brackets = len(body) - len(body.replace(b"{", b"").replace(b"[", b""))
    if brackets > max_depth or (len(body) > 5 * max_keys and body.count(b":") > max_keys):
        _check_closely(body, max_depth, max_keys)


def _check_closely(body: bytes, max_depth: int, max_keys: int) -> None:
    if _BACKSLASH in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside_strings = b"".join(body.split(b'"')[::2])
    if outside_strings.count(b":") > max_keys:
        raise InvalidJson(f"The request body has more than {max_keys} keys.")
    depth = 0
    for bracket in outside_strings.translate(None, _NOT_BRACKETS):
        if bracket in b"[{":
            depth += 1
            if depth > max_depth:
                raise InvalidJson(f"The request body is nested more than {max_depth} levels deep.")
        else:
            depth -= 1
