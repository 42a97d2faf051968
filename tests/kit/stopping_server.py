"""A server for the tests of its end: prints its port, then what happens."""

import asyncio
import sys

import structlog
import uvloop

from retinue.kit.http.server import ConnectionLimits, serve
from retinue.kit.http.sse import ServerSentEvent, stream

shutting_down = asyncio.Event()


def say(words):
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        say("lifespan ended")
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["path"] == "/stream":
        await stream(send, receive, one_event(), headers=[], shutting_down=shutting_down)
    else:
        say("entered")
        try:
            await (shutting_down.wait() if scope["path"] == "/slow" else asyncio.Event().wait())
        except asyncio.CancelledError:
            say("cancelled")
            raise
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"40000")]})
        await send({"type": "http.response.body", "body": b"slow" * 10_000})


async def one_event():
    yield ServerSentEvent("hello", b"{}", 1)
    await asyncio.Event().wait()


async def main():
    ports = []
    await serve(
        application,
        host="127.0.0.1",
        port=0,
        limits=ConnectionLimits(),
        on_bound=lambda bound: ports.append(bound[0][1]),
        on_ready=lambda: say(ports[0]),
        shutting_down=shutting_down,
        shutdown_grace_s=float(sys.argv[1]),
    )
    say("in order")


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    uvloop.run(main())
