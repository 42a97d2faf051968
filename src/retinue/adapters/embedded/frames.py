"""What the server and a model's process say to each other: a length, then one message as msgpack."""

import socket
import struct
from typing import Any

import msgspec

LARGEST_FRAME = 64 * 1024 * 1024
LENGTH = struct.Struct(">I")


class Start(msgspec.Struct, tag="start", frozen=True):
    """The first message: which module to run, and what it needs to load its model."""

    program: str
    options: dict[str, Any]


class Call(msgspec.Struct, tag="call", frozen=True):
    number: int
    method: str
    payload: Any


class Cancel(msgspec.Struct, tag="cancel", frozen=True):
    number: int


class Ready(msgspec.Struct, tag="ready", frozen=True):
    """The model is loaded, and calls may come."""


class Failed(msgspec.Struct, tag="failed", frozen=True):
    """The model could not be loaded; the process ends after saying so."""

    reason: str


class Part(msgspec.Struct, tag="part", frozen=True):
    """One part of the answer to a call."""

    number: int
    value: Any


class Ended(msgspec.Struct, tag="ended", frozen=True):
    """Nothing more comes for a call; with a reason it failed."""

    number: int
    kind: str = ""
    reason: str = ""


Order = Start | Call | Cancel
Report = Ready | Failed | Part | Ended

_encode = msgspec.msgpack.Encoder().encode


class Refused(Exception):
    """Raised by a model's program: the call cannot be answered, and the reason is for whoever asked."""

    def __init__(self, reason: str, *, kind: str = "invalid_request") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class FrameTooLarge(ValueError):
    """A message is larger than what may be sent."""


def framed(message: Order | Report) -> bytes:
    body = _encode(message)
    if len(body) > LARGEST_FRAME:
        raise FrameTooLarge(f"{len(body)} bytes, at most {LARGEST_FRAME}")
    return LENGTH.pack(len(body)) + body


def received(channel: socket.socket) -> bytes | None:
    """The next message of a blocking socket, still encoded; nothing at its end."""
    head = _exactly(channel, LENGTH.size)
    if head is None:
        return None
    return _exactly(channel, LENGTH.unpack(head)[0])


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    content = bytearray(size)
    view, filled = memoryview(content), 0
    while filled < size:
        count = channel.recv_into(view[filled:])
        if not count:
            return None
        filled += count
    return bytes(content)
