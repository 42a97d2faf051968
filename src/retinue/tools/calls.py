"""What an executor gets: the tool's effective configuration, the input, and how to be let in."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from retinue.kit.context import Context
from retinue.kit.redaction import Redactor
from retinue.tools.models import Tool

MAX_HTTP_TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 120_000
DEFAULT_TIMEOUT_MS = 30_000


@dataclass(frozen=True, kw_only=True)
class Authentication:
    """What lets the call in: headers and query parameters for HTTP, the secrets themselves for databases."""

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    query: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(kw_only=True)
class Call:
    """One run of a tool, on its way through an executor; no transaction is open while it runs."""

    ctx: Context
    tool: Tool
    execution_id: str
    config: dict[str, Any]
    input: dict[str, Any]
    timeout_s: float
    authentication: Authentication
    redactor: Redactor
    agent_id: str | None = None
    logs: str = ""
    attempts: int = 1

    @property
    def via(self) -> dict[str, str]:
        """On whose way a credential is used."""
        via = {"tool_id": self.tool.id, "execution_id": self.execution_id}
        return via if self.agent_id is None else {**via, "agent_id": self.agent_id}


Executor = Callable[[Call], Awaitable[Any]]
"""Runs a call and returns its output as a JSON value, or raises `ExecutionFailed`."""
