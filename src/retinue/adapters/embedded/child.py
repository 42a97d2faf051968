"""The process of one capability: `python -I -B -m retinue.adapters.embedded.child PARENT`, a socket as stdin.

It has an empty environment, ends with the server, and once its model is loaded it can read nothing but Python
itself and the weights. The module that `Start` names has `load(options)`, which answers with a `Serve`.
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
    Call,
    Cancel,
    Ended,
    Failed,
    Order,
    Part,
    Ready,
    Refused,
    Report,
    Start,
    framed,
    received,
)
from retinue.adapters.sandbox.guest import confine

# Called in a thread of its own for each call, with the method, the payload and whether the caller has gone;
# yields the parts of the answer. A program that works long between two parts asks the last one now and then.
Serve = Callable[[str, Any, Callable[[], bool]], Iterator[Any]]

_decode = msgspec.msgpack.Decoder(Order).decode
_LONGEST_REASON = 500
_BROKEN = 1


class Channel:
    """The socket to the server; whole messages from any thread."""

    def __init__(self, endpoint: socket.socket) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()

    def send(self, report: Report) -> None:
        message = framed(report)
        with self._lock:
            self._endpoint.sendall(message)

    def receive(self) -> Order | None:
        message = received(self._endpoint)
        return None if message is None else _decode(message)


class Calls:
    """The calls at work, each in a thread of its own; the server never hands over more than it should."""

    def __init__(self, channel: Channel, serve: Serve) -> None:
        self._channel = channel
        self._serve = serve
        self._cancelled: dict[int, threading.Event] = {}

    def begin(self, call: Call) -> None:
        cancelled = self._cancelled[call.number] = threading.Event()
        threading.Thread(target=self._answer, args=(call, cancelled.is_set), daemon=True).start()

    def cancel(self, number: int) -> None:
        cancelled = self._cancelled.get(number)
        if cancelled is not None:
            cancelled.set()

    def _answer(self, call: Call, is_cancelled: Callable[[], bool]) -> None:
        try:
            ended = self._worked_through(call, is_cancelled)
            del self._cancelled[call.number]
            self._channel.send(ended)
        except OSError:
            # Nobody hears us any more.
            os._exit(_BROKEN)

    def _worked_through(self, call: Call, is_cancelled: Callable[[], bool]) -> Ended:
        try:
            with contextlib.closing(
                _generator(self._serve(call.method, call.payload, is_cancelled))
            ) as parts:
                for part in parts:
                    if is_cancelled():
                        break
                    self._channel.send(Part(call.number, part))
        except Refused as error:
            return Ended(call.number, error.kind, error.reason[:_LONGEST_REASON])
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  whatever a library raises is the answer to this call
            return Ended(call.number, "overloaded", _told(error))
        return Ended(call.number)


def _generator(parts: Iterator[Any]) -> Any:
    """The same parts as a generator, which can be closed."""
    return (part for part in parts)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]


def _taken_over() -> Channel:
    """The socket that came as stdin; whatever else the server had open is closed."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    endpoint = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return Channel(endpoint)


def _locked(options: dict[str, Any]) -> None:
    """Weights and Python stay readable; the database, the keys and every address are out of reach."""
    readable = {sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr/lib", "/lib", "/proc/self", "/sys"}
    # Without it FFmpeg asks the processor for randomness, in a way that ends the process on some.
    readable |= {"/dev/urandom", *sys.path, *options.get("readable", ())}
    confine.landlock(path for path in readable if path and Path(path).exists())


def main() -> None:
    confine.die_with(int(sys.argv[1]))
    confine.limit(core=0)
    channel = _taken_over()
    start = channel.receive()
    assert isinstance(start, Start)
    if "memory" in start.options:
        confine.limit(**{"as": start.options["memory"]})
    try:
        serve: Serve = importlib.import_module(start.program).load(start.options)
        _locked(start.options)
    except Refused as error:
        channel.send(Failed(error.reason))
        return
    except Exception as error:  # noqa: BLE001  the server tells it to whoever asked
        channel.send(Failed(_told(error)))
        return
    channel.send(Ready())
    calls = Calls(channel, serve)
    while (order := channel.receive()) is not None:
        if isinstance(order, Call):
            calls.begin(order)
        elif isinstance(order, Cancel):
            calls.cancel(order.number)
    # Threads of the libraries may be at work; nobody waits for them any more.
    os._exit(0)


if __name__ == "__main__":
    main()
