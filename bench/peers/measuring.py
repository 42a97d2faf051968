"""CPU that a peer takes for the same chat: the provider and the load are ours, the server is theirs."""

import secrets
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from bench.chat import CHAT, LONG_STREAM, Side, Work
from bench.load import drive, request_bytes
from bench.peers.installing import python_with
from bench.servers import Server

GOAL_TIMES = 10
ROUNDS = 5
ONE, FEW, MANY = 1, CHAT.at_once, 64
"""Chats at once: one after another, a server that mostly waits, and one that always has something to do.

The last tells how much work a core can do. With few at once, each piece of a chat also pays for waking up.
"""
COUNTS = {
    ONE: {CHAT: 24, LONG_STREAM: 12},
    FEW: {CHAT: 48, LONG_STREAM: 24},
    MANY: {CHAT: 192, LONG_STREAM: 128},
}
# Of ours and the bare one, in parts of what they do elsewhere: each of the three is to work about as long, so
# that connections and cold caches weigh about the same.
SHARES = {ONE: 1.0, FEW: 2.0, MANY: 8.0}


@dataclass(frozen=True)
class Peer:
    name: str
    requirement: str
    module: str
    health: str
    request: Callable[[str, bool], bytes]
    """The request for a chat, with the server's key, and whether it is to be streamed."""
    others: tuple[str, ...] = ()


def _litellm(key: str, is_streaming: bool) -> bytes:
    body = {
        "model": "words",
        "stream": is_streaming,
        "messages": [
            {"role": "system", "content": "You are a friendly assistant. Answer briefly."},
            {"role": "user", "content": "Hello, how are you?"},
        ],
    }
    return request_bytes("POST", "/chat/completions", token=key, body=msgspec.json.encode(body))


def _agno(_key: str, is_streaming: bool) -> bytes:
    fields = {"message": "Hello, how are you?", "stream": "true" if is_streaming else "false"}
    parts = "".join(
        f'--bench\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    body = f"{parts}--bench--\r\n".encode()
    return request_bytes(
        "POST", "/agents/bench/runs", body=body, content_type="multipart/form-data; boundary=bench"
    )


PEERS = (
    Peer(
        name="LiteLLM 1.106.2",
        requirement="litellm[proxy]==1.106.2",
        module="bench.peers.litellm_server",
        health="/health/liveliness",
        request=_litellm,
    ),
    Peer(
        name="Agno 3.1.10",
        requirement="agno[os]==3.1.10",
        others=("openai==3.49.0",),
        module="bench.peers.agno_server",
        health="/health",
        request=_agno,
    ),
)


class Measured(NamedTuple):
    """CPU microseconds of each server for one chat, with so many at once."""

    what: str
    at_once: int
    theirs: float
    ours: float
    bare: float


async def measure(peer: Peer, provider: str, ours: Side, bare: Side) -> list[Measured]:
    """All three by turns, so that they are measured on the same machine in the same mood."""
    key = f"sk-{secrets.token_hex(24)}"
    env = {
        "LITELLM_MASTER_KEY": key,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "CRITICAL",
        "AGNO_TELEMETRY": "false",
    }
    python = python_with(peer.requirement, *peer.others)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(peer.module, provider, folder, env=env, python=python, health=peer.health)
        try:
            return [
                await _by_turns(work, at_once, server, peer.request(key, work.is_streamed), ours, bare)
                for at_once in (ONE, FEW, MANY)
                for work in (CHAT, LONG_STREAM)
            ]
        finally:
            server.stop()


async def _by_turns(
    work: Work, at_once: int, server: Server, request: bytes, ours: Side, bare: Side
) -> Measured:
    count, share = COUNTS[at_once][work], SHARES[at_once]
    await _cpu_us(server, request, count, at_once)
    figures = [
        (
            await _cpu_us(server, request, count, at_once),
            await ours.cpu_us(work, share=share, at_once=at_once),
            await bare.cpu_us(work, share=share, at_once=at_once),
        )
        for _ in range(ROUNDS)
    ]
    return Measured(
        "stream" if work.is_streamed else "chat",
        at_once,
        *(statistics.median(one) for one in zip(*figures, strict=True)),
    )


async def _cpu_us(server: Server, request: bytes, count: int, at_once: int) -> float:
    before = server.cpu_seconds()
    bad = await drive(server.port, request, count, at_once)
    if bad:
        raise RuntimeError(f"{bad} of {count} requests failed")
    return (server.cpu_seconds() - before) / count * 1e6
