"""The messages between a worker process and its supervisor: packets of msgpack arrays.

A message of a process is `[call, operation, …]`; the supervisor answers a call with `[call, …]`. Call 0
wants no answer; what the supervisor sends by itself also has the number 0: `[0, topic, …]`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from retinue.kit.peers.packets import MAX_PACKET_BYTES

VERSION = 1
"""Changes with the messages: a process of another version cannot work with this supervisor."""

HIT, USED, ACQUIRE, RELEASE, PUBLISH, READY, REPORT = range(7)

DRAIN = "process.drain"
MEMBERS = "process.members"

Message = Sequence[Any]

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[list[Any]])


def encode_packets(messages: Sequence[Message]) -> list[bytes]:
    """Return the messages as few packets; a message larger than a packet is left out."""
    packet = _encoder.encode(messages)
    if len(packet) <= MAX_PACKET_BYTES:
        return [packet]
    if len(messages) == 1:
        return []
    middle = len(messages) // 2
    return encode_packets(messages[:middle]) + encode_packets(messages[middle:])


def decode_packet(packet: memoryview | bytes) -> list[list[Any]]:
    return _decoder.decode(packet)
