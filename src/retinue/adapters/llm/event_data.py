"""Server-sent events cut out of the bytes of a stream; only their data matters to us."""

from retinue.adapters.llm.errors import ModelError

MAX_EVENT_BYTES = 1024 * 1024


class EventData:
    """Takes a stream in pieces that end anywhere, even in a character, and gives the data of its events."""

    __slots__ = ("_begun", "_data", "_held_back", "_is_idle", "_size")

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._data: list[bytes] = []
        self._held_back = b""
        self._size = 0
        self._is_idle = True

    def feed(self, received: bytes) -> list[bytes]:
        """The data of the events that these bytes complete."""
        if self._is_idle and _is_one_event(received):
            return [received[6:-2]]
        if b"\r" in received or self._held_back:
            received = self._with_plain_line_ends(received)
        self._size += len(received)
        complete = self._take_lines(received) if b"\n" in received else self._begin(received)
        if self._size > MAX_EVENT_BYTES:
            raise ModelError("bad_answer", "An event of the stream is larger than allowed.")
        self._is_idle = not (self._begun or self._data or self._held_back)
        return complete

    def _with_plain_line_ends(self, received: bytes) -> bytes:
        """A line may end in CRLF or CR too; a CR at the very end may be one half and waits for the rest."""
        received = self._held_back + received
        self._held_back = b"\r" if received.endswith(b"\r") else b""
        return received.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _begin(self, piece: bytes) -> list[bytes]:
        self._begun.append(piece)
        return []

    def _take_lines(self, received: bytes) -> list[bytes]:
        if self._begun:
            received = b"".join((*self._begun, received))
            self._begun.clear()
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
            self._begun.append(rest)
        return complete


def _is_one_event(received: bytes) -> bool:
    """The usual case, for which all the rest is not needed: one line of data that arrives alone."""
    return (
        received.startswith(b"data: ")
        and received.endswith(b"\n\n")
        and received.count(b"\n") == 2
        and b"\r" not in received
    )
