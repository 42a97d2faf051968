"""The process of one capability: `python -I -B -m retinue.adapters.embedded.child PARENT`, socket as stdin.

It has an empty environment and exits with the server. Once its model is loaded it can read nothing but Python
itself and the weights. The module named by `StartFrame` defines `load(options)`, which returns a
`CallHandler`.
"""

import contextlib
import importlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from retinue.adapters.embedded.frames import (
    CallEndedFrame,
    CallFrame,
    CancelFrame,
    ChildFrame,
    LoadFailedFrame,
    ModelCallRefused,
    PartFrame,
    ReadyFrame,
    ServerFrame,
    StartFrame,
    encode_frame,
    receive_frame,
)
from retinue.adapters.sandbox.guest import confine
from retinue.kit.json_types import JsonObject

# Called in a separate thread per call with the method, the payload and a function that tells whether the call
# was cancelled; yields the parts of the answer. Long work between two parts should check for cancellation.
CallHandler = Callable[[str, Any, Callable[[], bool]], Iterator[Any]]

_decode = msgspec.msgpack.Decoder(ServerFrame).decode
_MAX_REASON_LENGTH = 500
_EXIT_BROKEN_CHANNEL = 1


class ServerChannel:
    """The socket to the server; any thread may send."""

    def __init__(self, endpoint: socket.socket) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()

    def send(self, report: ChildFrame) -> None:
        message = encode_frame(report)
        with self._lock:
            self._endpoint.sendall(message)

    def receive(self) -> ServerFrame | None:
        message = receive_frame(self._endpoint)
        return None if message is None else _decode(message)


class RunningCalls:
    """The calls in progress, each in its own thread; the server limits how many there are."""

    def __init__(self, channel: ServerChannel, serve: CallHandler) -> None:
        self._channel = channel
        self._serve = serve
        self._cancelled: dict[int, threading.Event] = {}

    def begin(self, call: CallFrame) -> None:
        cancelled = self._cancelled[call.number] = threading.Event()
        threading.Thread(target=self._answer, args=(call, cancelled.is_set), daemon=True).start()

    def cancel(self, number: int) -> None:
        cancelled = self._cancelled.get(number)
        if cancelled is not None:
            cancelled.set()

    def _answer(self, call: CallFrame, is_cancelled: Callable[[], bool]) -> None:
        try:
            ended = self._run_call(call, is_cancelled)
            del self._cancelled[call.number]
            self._channel.send(ended)
        except OSError:
            # The server is gone.
            os._exit(_EXIT_BROKEN_CHANNEL)

    def _run_call(self, call: CallFrame, is_cancelled: Callable[[], bool]) -> CallEndedFrame:
        try:
            with contextlib.closing(
                _as_generator(self._serve(call.method, call.payload, is_cancelled))
            ) as parts:
                for part in parts:
                    if is_cancelled():
                        break
                    self._channel.send(PartFrame(call.number, part))
        except ModelCallRefused as error:
            return CallEndedFrame(call.number, error.kind, error.reason[:_MAX_REASON_LENGTH])
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  reported as the result of this call
            return CallEndedFrame(call.number, "overloaded", _describe_error(error))
        return CallEndedFrame(call.number)


def _as_generator(parts: Iterator[Any]) -> Any:
    """Wrap the parts in a generator, which can be closed."""
    return (part for part in parts)


def _describe_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_MAX_REASON_LENGTH]


def _adopt_socket() -> ServerChannel:
    """Take over the socket passed as stdin, and close every other descriptor inherited from the server."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    endpoint = socket.socket(fileno=os.dup(0))
    null_device = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_device, 0)
    os.close(null_device)
    return ServerChannel(endpoint)


def _lock_down(options: JsonObject) -> None:
    """Leave only the weights and Python readable; block the database, the keys and the network."""
    readable = {sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr/lib", "/lib", "/proc/self", "/sys"}
    # Without it FFmpeg gets randomness from a CPU instruction that crashes the process on some machines.
    readable |= {"/dev/urandom", *sys.path, *options.get("readable", ())}
    confine.landlock(path for path in readable if path and Path(path).exists())


def main() -> None:
    confine.die_with(int(sys.argv[1]))
    confine.limit(core=0)
    channel = _adopt_socket()
    start = channel.receive()
    assert isinstance(start, StartFrame)
    if "memory" in start.options:
        confine.limit(**{"as": start.options["memory"]})
    try:
        serve: CallHandler = importlib.import_module(start.program).load(start.options)
        _lock_down(start.options)
    except ModelCallRefused as error:
        channel.send(LoadFailedFrame(error.reason))
        return
    except Exception as error:  # noqa: BLE001  reported to the server
        channel.send(LoadFailedFrame(_describe_error(error)))
        return
    channel.send(ReadyFrame())
    calls = RunningCalls(channel, serve)
    while (order := channel.receive()) is not None:
        if isinstance(order, CallFrame):
            calls.begin(order)
        elif isinstance(order, CancelFrame):
            calls.cancel(order.number)
    # Library threads may still be running; do not wait for them.
    os._exit(0)


if __name__ == "__main__":
    main()
