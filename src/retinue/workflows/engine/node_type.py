"""Node types: their parts, the input and result of a step, and the registry of all types."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.errors import InternalError
from retinue.kit.json_types import JsonObject
from retinue.workflows.definition import Node
from retinue.workflows.models import NodeRun, WorkflowExecution

MAX_OUTPUT_BYTES = 1024 * 1024


class NodeFailed(InternalError):
    """The step failed."""

    def __init__(self, reason: str, message: str, *, is_final: bool = False) -> None:
        """`reason` is the error code in the node's record; a final failure is not retried."""
        super().__init__(message)
        self.reason = reason
        self.is_final = is_final

    def as_error(self) -> JsonObject:
        return {"code": self.reason, "message": self.message}


class NodeStep(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a node in an execution: its configuration with the templates rendered."""

    execution: WorkflowExecution
    node: Node
    item: int
    config: JsonObject
    scope: JsonObject
    fault: NodeFailed | None = None
    branches: frozenset[str] = frozenset()
    """The branches that the node's outgoing edges name."""

    @property
    def key(self) -> str:
        """The step's idempotency key: the same for each attempt, so work is started elsewhere only once."""
        return f"{self.execution.id}:{self.node.id}:{self.item}"


class NodeCompleted(msgspec.Struct, frozen=True):
    output: Any = None


class NodeSuspended(msgspec.Struct, frozen=True):
    """The step resumes after `delay_s`, or through its continuation; `state` is kept until then.

    With `items`, that many items of a loop start at once, and the step resumes when all items have ended.
    """

    state: JsonObject
    delay_s: float | None = None
    items: int = 0
    is_for_approval: bool = False


class NodeCheck(msgspec.Struct, frozen=True):
    """A node that is validated before publication."""

    ctx: Context
    node: Node
    path: str


Problems = dict[str, str]


async def no_problems(_: NodeCheck) -> Problems:
    return {}


async def _completed_with_result(
    _ctx: Context, _step: NodeStep, _run: NodeRun, result: JsonObject
) -> NodeCompleted | NodeSuspended:
    return NodeCompleted(result)


def requires_permission(permission: str) -> Callable[[NodeStep], str]:
    return lambda _: permission


class NodeType(msgspec.Struct, frozen=True, kw_only=True):
    """Without `calls_outside`, `run` and `resume` are part of the transaction that ends the node.

    With it, they get a context without a transaction and may run again after a crash. `config_schema` is a
    JSON Schema; templates are accepted in place of any value.
    """

    type: str
    name: str
    description: str
    config_schema: JsonObject
    run: Callable[[Context, NodeStep], Awaitable[NodeCompleted | NodeSuspended]]
    check: Callable[[NodeCheck], Awaitable[Problems]] = no_problems
    check_on_write: Callable[[NodeCheck], Awaitable[Problems]] = no_problems
    """The checks that a draft has to pass, too; `check` makes them again before publication."""
    resume: Callable[[Context, NodeStep, NodeRun, JsonObject], Awaitable[NodeCompleted | NodeSuspended]] = (
        _completed_with_result
    )
    abandon: Callable[[Context, str, JsonObject], Awaitable[None]] | None = None
    """Called with the key and state of a suspended node whose execution or loop has ended."""
    requires: Callable[[NodeStep], str] = requires_permission("workflows:execute")
    """Returns the permission that the execution's user needs; not checked for pure nodes."""
    calls_outside: bool = False
    is_pure: bool = False
    """Reads and writes only its own execution, so it needs no transaction of its own (ADR 15)."""
    timeout_ms: int = 60_000

    @property
    def described_config(self) -> ConfigSchema:
        """The schema as the API reference shows it."""
        return ConfigSchema(
            fields=("WorkflowCreate.nodes[].config", "WorkflowUpdate.nodes[].config"),
            kind=self.type,
            schema=self.config_schema,
            name=f"{self.type.title().replace('_', '')}NodeConfig",
            description=f"Configuration of a node with `type` `{self.type}`. {self.description}",
        )


NODE_TYPES: dict[str, NodeType] = {}
"""Every node type by its name. The manifest registers them, so the engine imports no node."""


def register_node_types(types: Iterable[NodeType]) -> None:
    NODE_TYPES.update((node_type.type, node_type) for node_type in types)
