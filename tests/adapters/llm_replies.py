"""Replies that a test scripts for the local model provider, and the answers it sends."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str = "{}"
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """`finish` and `usage` are made up as a real provider would when they are not given."""

    text: str
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    usage: Any = None
    model: str | None = None
    reasoning: str = ""


@dataclass
class Answer:
    """A body in one piece, or the events of a stream."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    events: list[bytes] | None = None


def pieces(text: str, size: int = 7) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
