"""Socket pairs that keep the bounds of packets, also on systems that only have streams (macOS)."""

import socket
from collections import deque

MAX_PACKET_BYTES = 96 * 1024
_LENGTH_BYTES = 4


def packet_pair() -> "tuple[PacketSocket, PacketSocket]":
    ours, theirs = _pair()
    return PacketSocket(ours), PacketSocket(theirs)


def _pair() -> tuple[socket.socket, socket.socket]:
    if hasattr(socket, "SOCK_SEQPACKET"):
        try:
            return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            pass  # macOS knows the name, but has no such local sockets
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


class PacketSocket:
    """One end of a pair; it never blocks."""

    def __init__(self, endpoint: socket.socket) -> None:
        endpoint.setblocking(False)
        self._endpoint = endpoint
        self._is_stream = endpoint.type == socket.SOCK_STREAM
        self._unsent: deque[bytes] = deque()
        self._buffer = bytearray(MAX_PACKET_BYTES)
        self._view = memoryview(self._buffer)
        self._received = bytearray()

    def fileno(self) -> int:
        return self._endpoint.fileno()

    @property
    def unsent_packets(self) -> int:
        return len(self._unsent)

    def detach(self) -> int:
        return self._endpoint.detach()

    def close(self) -> None:
        self._endpoint.close()

    def send(self, packet: bytes) -> bool:
        """Send a packet or queue it; return False if something is left for `flush`."""
        if self._is_stream:
            packet = len(packet).to_bytes(_LENGTH_BYTES, "big") + packet
        self._unsent.append(packet)
        return self.flush()

    def flush(self) -> bool:
        """Send what waits; return False if the other end must read first. Its end shows when we read."""
        while self._unsent:
            packet = self._unsent[0]
            try:
                sent = self._endpoint.send(packet)
            except BlockingIOError:
                return False
            except OSError:
                self._unsent.clear()
                return True
            if sent < len(packet):
                self._unsent[0] = packet[sent:]
            else:
                self._unsent.popleft()
        return True

    def receive(self) -> list[memoryview | bytes] | None:
        """Return what has arrived, valid until the next call; None once the other end is closed."""
        try:
            size = self._endpoint.recv_into(self._buffer)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not size:
            return None
        if not self._is_stream:
            return [self._view[:size]]
        self._received += self._view[:size]
        return self._whole_packets()

    def _whole_packets(self) -> list[memoryview | bytes]:
        packets: list[memoryview | bytes] = []
        while len(self._received) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._received[:_LENGTH_BYTES], "big")
            if len(self._received) < end:
                break
            packets.append(bytes(self._received[_LENGTH_BYTES:end]))
            del self._received[:end]
        return packets
