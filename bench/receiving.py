"""What a payload costs that an incoming webhook takes, beside a bare insert, and how soon it is answered.

python -m bench --only deliveries
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from bench.figures import Figure
from bench.load import request_bytes
from bench.requests import NOTE, Scenario, Side, call, environment, sign_in
from bench.servers import Server

ROUNDS = 5
# A sender may send 600 a minute to one address.
EACH = 400
TIMED = 200
GOAL_TIMES = 2.5
GOAL_MS = 50
PAYLOAD = msgspec.json.encode({"order": 17, "text": "Some words to store. " * 10})


async def make_hook(server: Server, token: str) -> str:
    """The public address of a new one."""
    made: Any = await call(server.port, "POST", "/api/v1/incoming-webhooks", b'{"name": "Bench"}', token)
    return f"/webhooks/in/{made['slug']}"


async def measure(url: str) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        servers: list[Server] = []
        try:
            servers.append(Server("bench.ours", env=environment(folder, url)))
            token = await sign_in(servers[0])
            servers.append(Server("bench.bare", url or str(Path(folder) / "retinue.db"), ""))
            insert = Scenario("insert", "POST", "/bench/notes", EACH, {}, {}, body=NOTE)
            ratios = []
            for _ in range(ROUNDS + 1):
                path = await make_hook(servers[0], token)
                receive = Scenario("receive", "POST", path, EACH, {}, {}, body=PAYLOAD)
                cost = await Side(servers[0]).measure(receive)
                ratios.append(cost / await Side(servers[1]).measure(insert))
            times = await _times_ms(servers[0].port, await make_hook(servers[0], token))
        finally:
            for server in reversed(servers):
                server.stop()
    return [
        Figure("a payload received, CPU", statistics.median(ratios[1:]), "x a bare insert", GOAL_TIMES),
        Figure("its answer, p99", statistics.quantiles(times, n=100)[98], "ms", GOAL_MS),
    ]


async def _times_ms(port: int, path: str) -> list[float]:
    """Of payloads that come one after the other."""
    request = request_bytes("POST", path, body=PAYLOAD)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times = []
    for _ in range(TIMED):
        begun = time.perf_counter()
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        assert head.startswith(b"http/1.1 200"), head
        await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        times.append((time.perf_counter() - begun) * 1000)
    writer.close()
    return times
