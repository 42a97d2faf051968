"""Clients that invite people, and a ledger of what they were told; unknown is not lost."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any


class HalfAnswer(ConnectionError):
    """The connection ended in the middle of an answer."""


Unreachable = (OSError, asyncio.IncompleteReadError, ValueError, IndexError)


async def call(
    port: int,
    method: str,
    path: str,
    *,
    token: str = "",
    body: Any = None,
    headers: dict[str, str] | None = None,
    form: bytes = b"",
) -> tuple[int, Any]:
    """One request on a connection of its own; raises one of `Unreachable` when no whole answer came.

    `form` is a multipart body, whose type the headers say.
    """
    content = json.dumps(body).encode() if body is not None else form
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if content:
        lines.append(f"Content-Length: {len(content)}")
    if body is not None:
        lines.append("Content-Type: application/json")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        answer = await reader.read()
    finally:
        writer.close()
    head, end, got = answer.partition(b"\r\n\r\n")
    if answer and not end:
        raise HalfAnswer
    status = int(head.split()[1])
    lengths = (
        int(line.partition(b":")[2])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length")
    )
    length = next(lengths) if status != 204 else 0
    if len(got) < length:
        raise HalfAnswer
    return status, json.loads(got) if got else None


@dataclass
class Ledger:
    """The promises (`acked`: address to invitation id), and addresses whose outcome is unknown."""

    acked: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    refused: list[Any] = field(default_factory=list)
    halves: list[str] = field(default_factory=list)


class Inviters:
    """Invite one new address after the other until told to stop, across restarts of the server."""

    def __init__(self, port: int, token: str, clients: int = 4) -> None:
        self.ledger = Ledger()
        self._port = port
        self._token = token
        self._clients = clients
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._work(number)) for number in range(self._clients)]

    async def finish(self) -> Ledger:
        self._stop.set()
        await asyncio.gather(*self._tasks)
        return self.ledger

    async def _work(self, client: int) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            await self._invite(f"guest-{client}-{number}@example.com", retries=client % 2 == 0)

    async def _invite(self, address: str, *, retries: bool) -> None:
        """Half the clients send an idempotency key and repeat a call until it is answered."""
        headers = {"Idempotency-Key": address} if retries else {}
        while True:
            try:
                status, answer = await asyncio.wait_for(
                    call(
                        self._port, "POST", "/users/invite", token=self._token,
                        body={"email": address, "role": "viewer"}, headers=headers,
                    ),
                    10,
                )  # fmt: skip
            except (*Unreachable, TimeoutError) as error:
                self.ledger.unknown.add(address)
                if isinstance(error, HalfAnswer):
                    self.ledger.halves.append(address)
                await asyncio.sleep(0.02)
                if retries and not self._stop.is_set():
                    continue
                return
            if status == 201:
                self.ledger.acked[address] = answer["id"]
                self.ledger.unknown.discard(address)
                return
            if status in {409, 503} and retries and not self._stop.is_set():
                await asyncio.sleep(0.05)
                continue
            if status not in {409, 503}:
                self.ledger.refused.append((status, answer))
            return
