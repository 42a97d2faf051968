"""Reading of error responses: a bounded part of the body, and the message for people in it."""

import asyncio
from contextlib import suppress
from typing import Any

import msgspec

from retinue.kit.egress import Response
from retinue.kit.errors import RetinueError

# Raised when a body is not the expected JSON.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_MAX_ERROR_BODY_BYTES = 64 * 1024
_ERROR_BODY_TIMEOUT_SECONDS = 5.0
_MESSAGE_KEYS = ("message", "error", "detail", "errors")
_MAX_MESSAGE_DEPTH = 3


async def read_error_body(response: Response) -> bytes:
    """Return the beginning of an error response, as far as it arrives in time."""
    body = bytearray()
    with suppress(TimeoutError, RetinueError):
        async with asyncio.timeout(_ERROR_BODY_TIMEOUT_SECONDS):
            async for chunk in response.iter_bytes():
                body += chunk
                if len(body) >= _MAX_ERROR_BODY_BYTES:
                    break
    return bytes(body[:_MAX_ERROR_BODY_BYTES])


def decode_json(body: bytes) -> Any:
    """Return the JSON value in a body, or None if it is not JSON."""
    try:
        return msgspec.json.decode(body)
    except UNREADABLE:
        return None


def find_message(body: Any) -> Any:
    """Return the human-readable message of an error body, or the part that should contain it.

    Each API nests the message differently.
    """
    for _ in range(_MAX_MESSAGE_DEPTH):
        first = body[0] if isinstance(body, list) and body else body
        if isinstance(first, str):
            return first
        if not isinstance(first, dict):
            break
        body = next((first[name] for name in _MESSAGE_KEYS if first.get(name)), body)
    return body
