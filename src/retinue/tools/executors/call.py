"""The call that an executor receives: effective configuration, input and authentication."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.text.redaction import Redactor
from retinue.tools.models import Tool

MAX_HTTP_TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 120_000


@dataclass(frozen=True, kw_only=True)
class Authentication:
    """Headers and query parameters for HTTP; the secrets themselves for databases."""

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    query: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: JsonObject = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ImageBlock:
    """An image in a result; `shown` stands for it in the output."""

    content: bytes = field(repr=False)
    shown: JsonObject


@dataclass(kw_only=True)
class ExecutorCall:
    """One run of a tool; no transaction is open while it runs.

    `image_blocks` are images that the executor has taken out of its output, for agents.
    """

    ctx: Context
    tool: Tool
    execution_id: str
    config: JsonObject
    input: JsonObject
    timeout_s: float
    authentication: Authentication
    redactor: Redactor
    agent_id: str | None = None
    logs: str = ""
    attempts: int = 1
    image_blocks: list[ImageBlock] = field(default_factory=list)

    @property
    def via(self) -> dict[str, str]:
        """The integrations through which a credential is used, for its access rules and audit trail."""
        via = {"tool_id": self.tool.id, "execution_id": self.execution_id}
        return via if self.agent_id is None else {**via, "agent_id": self.agent_id}


Executor = Callable[[ExecutorCall], Awaitable[Any]]
"""Runs a call and returns its output as a JSON value, or raises `ExecutionFailed`."""
