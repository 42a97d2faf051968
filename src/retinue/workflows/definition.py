"""A workflow as the engine reads it: nodes and edges, parsed once per version."""

from functools import cached_property
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from retinue.kit.json_types import JsonObject
from retinue.kit.schema.conditions import is_met
from retinue.kit.schema.messages import PatternMessage

MAX_NODES = 500
MAX_EDGES = 2_000

OnError = Literal["fail", "continue", "branch"]
ERROR_BRANCH = "error"


MAX_NODE_TIMEOUT_MS = 900_000


NodeId = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)"),
    PatternMessage("must be 1 to 64 letters, digits, hyphens or underscores"),
]


class NodeRetry(msgspec.Struct, frozen=True):
    max: Annotated[int, Meta(ge=0, le=10)] = 0
    delay_ms: Annotated[int, Meta(ge=0, le=3_600_000)] = 1_000


class Node(msgspec.Struct, frozen=True):
    """`on_error` defaults to `branch` for a node with an `error` edge, else to `fail`."""

    id: NodeId
    type: str
    name: str | None = None
    config: JsonObject = {}
    retry: NodeRetry | None = None
    timeout_ms: Annotated[int, Meta(ge=1, le=MAX_NODE_TIMEOUT_MS)] | None = None
    on_error: OnError | None = None


class Edge(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}):
    """`when` is a condition on the source's `output` and the rest of the scope, or the name of a branch.

    Branches are `true` and `false` after a condition, the cases after a switch, and `error` after a failure.
    """

    source: str
    target: str
    when: JsonObject | str | None = None

    def is_taken(self, output: object, scope: JsonObject) -> bool:
        """Return whether the edge is followed after its source completed."""
        if self.when is None:
            return True
        if isinstance(self.when, str):
            return self.when != ERROR_BRANCH and _branch_of(output) == self.when
        return is_met(self.when, {**(output if isinstance(output, dict) else {}), **scope, "output": output})


def _branch_of(output: object) -> str | None:
    """Return the branch that a condition or a switch chose."""
    branch = output.get("branch") if isinstance(output, dict) else None
    return branch if isinstance(branch, str) else None


class Definition(msgspec.Struct, frozen=True, dict=True):
    nodes: dict[str, Node]
    edges: tuple[Edge, ...]

    @cached_property
    def outgoing(self) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {id: [] for id in self.nodes}
        for position, edge in enumerate(self.edges):
            positions[edge.source].append(position)
        return positions

    @cached_property
    def incoming(self) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {id: [] for id in self.nodes}
        for position, edge in enumerate(self.edges):
            positions[edge.target].append(position)
        return positions

    @cached_property
    def references(self) -> dict[str, frozenset[str]]:
        """Cache of `scope.referenced_nodes`: the nodes that each node refers to."""
        return {}

    def branches(self, node_id: str) -> frozenset[str]:
        conditions = (self.edges[position].when for position in self.outgoing[node_id])
        return frozenset(when for when in conditions if isinstance(when, str))

    @property
    def roots(self) -> list[str]:
        return [id for id, edges in self.incoming.items() if not edges]


def parse_definition(nodes: list[JsonObject], edges: list[JsonObject]) -> Definition:
    """Parse nodes and edges that `validation.problems_of` has accepted."""
    parsed_edges = tuple(msgspec.convert(edges, list[Edge]))
    branching = {edge.source for edge in parsed_edges if edge.when == ERROR_BRANCH}
    parsed_nodes: dict[str, Node] = {}
    for node in msgspec.convert(nodes, list[Node]):
        on_error = node.on_error or ("branch" if node.id in branching else "fail")
        parsed_nodes[node.id] = msgspec.structs.replace(node, on_error=on_error)
    return Definition(parsed_nodes, parsed_edges)
