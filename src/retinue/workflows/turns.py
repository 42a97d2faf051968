"""A node's turn: what its job is told, and who takes care of what follows."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.kit.context import Context
from retinue.kit.jobs.declare import JobKind
from retinue.workflows.models import WHOLE
from retinue.workflows.nodes.kinds import NodeType


class NodeTurn(msgspec.Struct):
    execution_id: str
    node_id: str
    item: int = WHOLE
    attempt: int = 1
    result: dict[str, Any] | None = None
    """What a node that waited is told when it goes on."""


class AbandonedNode(msgspec.Struct):
    """A node that waited for somebody when its run ended otherwise."""

    type: str
    key: str
    state: dict[str, Any]


class EndedExecution(msgspec.Struct):
    execution_id: str


class Running(msgspec.Struct, frozen=True):
    """How nodes get their turns; told by the module of the jobs, which stands above this one.

    Whom a node waited for is told in a job of its own: he may hold his row and be waiting for this one.
    """

    types: dict[str, NodeType]
    inside: JobKind[NodeTurn]
    outside: JobKind[NodeTurn]
    abandoning: JobKind[AbandonedNode]
    telling: JobKind[EndedExecution]
    making_room: Callable[[Context], Awaitable[None]]
