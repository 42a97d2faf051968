"""Messages between the server and a model's process: a length, then one msgpack message."""

import socket
import struct
from typing import Any

import msgspec

from retinue.kit.json_types import JsonObject

MAX_FRAME_BYTES = 64 * 1024 * 1024
FRAME_LENGTH = struct.Struct(">I")


class StartFrame(msgspec.Struct, tag="start", frozen=True):
    """The first message: the module to run and the options to load its model with."""

    program: str
    options: JsonObject


class CallFrame(msgspec.Struct, tag="call", frozen=True):
    number: int
    method: str
    payload: Any


class CancelFrame(msgspec.Struct, tag="cancel", frozen=True):
    number: int


class ReadyFrame(msgspec.Struct, tag="ready", frozen=True):
    """The model is loaded and accepts calls."""


class LoadFailedFrame(msgspec.Struct, tag="failed", frozen=True):
    """The model could not be loaded; the process exits after sending this."""

    reason: str


class PartFrame(msgspec.Struct, tag="part", frozen=True):
    """One part of the answer to a call."""

    number: int
    value: Any


class CallEndedFrame(msgspec.Struct, tag="ended", frozen=True):
    """The call is over; it failed if `kind` and `reason` are set."""

    number: int
    kind: str = ""
    reason: str = ""


ServerFrame = StartFrame | CallFrame | CancelFrame
ChildFrame = ReadyFrame | LoadFailedFrame | PartFrame | CallEndedFrame

_encode = msgspec.msgpack.Encoder().encode


class ModelCallRefused(Exception):
    """Raised by a model's program if a call cannot be answered; the reason is shown to the requester."""

    def __init__(self, reason: str, *, kind: str = "invalid_request") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class FrameTooLarge(ValueError):
    """The message is larger than a frame may be."""


def encode_frame(message: ServerFrame | ChildFrame) -> bytes:
    body = _encode(message)
    if len(body) > MAX_FRAME_BYTES:
        raise FrameTooLarge(f"{len(body)} bytes; the maximum is {MAX_FRAME_BYTES}")
    return FRAME_LENGTH.pack(len(body)) + body


def receive_frame(channel: socket.socket) -> bytes | None:
    """Return the next message of a blocking socket, still encoded, or None at its end."""
    head = _receive_exactly(channel, FRAME_LENGTH.size)
    if head is None:
        return None
    return _receive_exactly(channel, FRAME_LENGTH.unpack(head)[0])


def _receive_exactly(channel: socket.socket, size: int) -> bytes | None:
    content = bytearray(size)
    view, filled = memoryview(content), 0
    while filled < size:
        count = channel.recv_into(view[filled:])
        if not count:
            return None
        filled += count
    return bytes(content)
