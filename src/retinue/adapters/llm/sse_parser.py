"""Parsing of server-sent events; only their data is kept."""

from retinue.adapters.llm.errors import ModelError

MAX_EVENT_BYTES = 1024 * 1024


class SseParser:
    """Parses a stream from chunks of any size and returns the data of each event."""

    __slots__ = ("_data", "_is_idle", "_partial_line", "_pending_cr", "_size")

    def __init__(self) -> None:
        self._partial_line: list[bytes] = []
        self._data: list[bytes] = []
        self._pending_cr = b""
        self._size = 0
        self._is_idle = True

    def feed(self, received: bytes) -> list[bytes]:
        """Return the data of the events that these bytes complete."""
        if self._is_idle and _is_one_event(received):
            return [received[6:-2]]
        if b"\r" in received or self._pending_cr:
            received = self._with_plain_line_ends(received)
        self._size += len(received)
        complete = self._parse_lines(received) if b"\n" in received else self._buffer(received)
        if self._size > MAX_EVENT_BYTES:
            raise ModelError("bad_answer", "An event of the stream is too large.")
        self._is_idle = not (self._partial_line or self._data or self._pending_cr)
        return complete

    def _with_plain_line_ends(self, received: bytes) -> bytes:
        """Convert CRLF and CR to LF; a CR at the very end waits, because an LF may follow."""
        received = self._pending_cr + received
        self._pending_cr = b"\r" if received.endswith(b"\r") else b""
        return received.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _buffer(self, piece: bytes) -> list[bytes]:
        self._partial_line.append(piece)
        return []

    def _parse_lines(self, received: bytes) -> list[bytes]:
        if self._partial_line:
            received = b"".join((*self._partial_line, received))
            self._partial_line.clear()
        *lines, rest = received.split(b"\n")
        complete: list[bytes] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif not line:
                self._size = len(rest)
                if data:
                    complete.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
        if rest:
            self._partial_line.append(rest)
        return complete


def _is_one_event(received: bytes) -> bool:
    """Whether the chunk is exactly one single-line event: the usual case, which skips the parser."""
    return (
        received.startswith(b"data: ")
        and received.endswith(b"\n\n")
        and received.count(b"\n") == 2
        and b"\r" not in received
    )
