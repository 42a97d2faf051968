"""The API that tools call: it answers every request with the same small JSON.

python -m bench.upstream PORT
"""

import sys
from typing import Any

import uvicorn

_BODY = b'{"id":"ord_17","status":"shipped","items":[{"sku":"A-1","quantity":2},{"sku":"B-9","quantity":1}]}'
_HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(_BODY))]


async def answer(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": _BODY})


if __name__ == "__main__":
    uvicorn.run(
        answer,
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="error",
        ws="none",
    )
