"""What a type of node is made of."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.workflows.definition import Node
from retinue.workflows.models import NodeRun, WorkflowExecution

MAX_OUTPUT_BYTES = 1024 * 1024


class NodeFailed(RetinueError):
    """The step failed."""

    status, code = 422, "node_failed"

    def __init__(self, reason: str, message: str, *, is_final: bool = False) -> None:
        """`reason` is the code that the record of the node shows; a final failure is not tried again."""
        super().__init__(message)
        self.reason = reason
        self.is_final = is_final

    def as_error(self) -> dict[str, Any]:
        return {"code": self.reason, "message": self.message}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One node's turn in one run: its configuration with the templates filled in."""

    execution: WorkflowExecution
    node: Node
    item: int
    config: dict[str, Any]
    scope: dict[str, Any]
    attempt: int = 1
    fault: NodeFailed | None = None
    branches: frozenset[str] = frozenset()
    """The names that edges out of the node have."""

    @property
    def key(self) -> str:
        """The same however often this step is run: what it starts elsewhere is started once."""
        return f"{self.execution.id}:{self.node.id}:{self.item}"


class Done(msgspec.Struct, frozen=True):
    output: Any = None


class Waits(msgspec.Struct, frozen=True):
    """The step goes on after `delay_s`, or when somebody resumes it; `state` is kept until then.

    With `items`, so many of its items get their turn first, and it goes on when all have had one.
    """

    state: dict[str, Any]
    delay_s: float | None = None
    items: int = 0
    is_for_approval: bool = False


class Checking(msgspec.Struct, frozen=True):
    """A node that is looked at before it may be published."""

    ctx: Context
    node: Node
    path: str


Problems = dict[str, str]


async def nothing_more(_: Checking) -> Problems:
    return {}


async def _done_after_waiting(
    _ctx: Context, _step: Step, _run: NodeRun, result: dict[str, Any]
) -> Done | Waits:
    return Done(result)


def needs(permission: str) -> Callable[[Step], str]:
    return lambda _: permission


class NodeType(msgspec.Struct, frozen=True, kw_only=True):
    """`run` and `resume` of a node that does not call outside are part of the transaction that ends it.

    One that does gets a context without a transaction, and may be run again after a crash. `config_schema`
    is JSON Schema without the templates, which may stand anywhere.
    """

    type: str
    name: str
    description: str
    config_schema: dict[str, Any]
    run: Callable[[Context, Step], Awaitable[Done | Waits]]
    check: Callable[[Checking], Awaitable[Problems]] = nothing_more
    resume: Callable[[Context, Step, NodeRun, dict[str, Any]], Awaitable[Done | Waits]] = _done_after_waiting
    abandon: Callable[[Context, str, dict[str, Any]], Awaitable[None]] | None = None
    """Called with the key and the state of a node that waited when its run ended otherwise."""
    requires: Callable[[Step], str] = needs("workflows:execute")
    """What whoever it runs for must be allowed to; of a pure node nobody asks."""
    calls_outside: bool = False
    is_pure: bool = False
    """Reads and writes nothing but its own run, so that it needs no transaction of its own to fail in."""
    timeout_ms: int = 60_000
