"""A workflow as its engine sees it: nodes and edges with their meaning worked out, once for each version."""

from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from retinue.kit.conditions import holds

MAX_NODES = 500
MAX_EDGES = 2_000

OnError = Literal["fail", "continue", "branch"]
ON_FAILURE = "error"


LONGEST_TIMEOUT_MS = 900_000


class NodeRetry(msgspec.Struct, frozen=True):
    max: Annotated[int, Meta(ge=0, le=10)] = 0
    delay_ms: Annotated[int, Meta(ge=0, le=3_600_000)] = 1_000


class Node(msgspec.Struct, frozen=True):
    """`on_error` is `branch` for a node with an `error` edge that does not say otherwise, else `fail`."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)")]
    type: str
    name: str | None = None
    config: dict[str, Any] = {}
    retry: NodeRetry | None = None
    timeout_ms: Annotated[int, Meta(ge=1, le=LONGEST_TIMEOUT_MS)] | None = None
    on_error: OnError | None = None


class Edge(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}):
    """`when` is a condition over the source's `output` and the rest of the scope, or the name of a branch.

    A branch is `true` or `false` after a condition, a case after a switch, and `error` after a failure.
    """

    source: str
    target: str
    when: dict[str, Any] | str | None = None

    def is_taken(self, output: Any, scope: dict[str, Any]) -> bool:
        """After its source ended well."""
        if self.when is None:
            return True
        if isinstance(self.when, str):
            return self.when != ON_FAILURE and _branch(output) == self.when
        return holds(self.when, {**(output if isinstance(output, dict) else {}), **scope, "output": output})


def _branch(output: Any) -> str | None:
    """What a condition or a switch decided."""
    branch = output.get("branch") if isinstance(output, dict) else None
    return branch if isinstance(branch, str) else None


class Definition(msgspec.Struct, frozen=True, dict=True):
    nodes: dict[str, Node]
    edges: tuple[Edge, ...]

    @cached_property
    def outgoing(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {id: [] for id in self.nodes}
        for position, edge in enumerate(self.edges):
            found[edge.source].append(position)
        return found

    @cached_property
    def incoming(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {id: [] for id in self.nodes}
        for position, edge in enumerate(self.edges):
            found[edge.target].append(position)
        return found

    @cached_property
    def referred(self) -> dict[str, frozenset[str]]:
        """What each node looks at, filled in by `scope` as it finds out."""
        return {}

    def branches(self, node_id: str) -> frozenset[str]:
        conditions = (self.edges[position].when for position in self.outgoing[node_id])
        return frozenset(when for when in conditions if isinstance(when, str))

    @property
    def roots(self) -> list[str]:
        return [id for id, edges in self.incoming.items() if not edges]


def read_definition(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> Definition:
    """From what `validation.problems_of` found nothing wrong with."""
    read_edges = tuple(msgspec.convert(edges, list[Edge]))
    branching = {edge.source for edge in read_edges if edge.when == ON_FAILURE}
    found: dict[str, Node] = {}
    for node in msgspec.convert(nodes, list[Node]):
        on_error = node.on_error or ("branch" if node.id in branching else "fail")
        found[node.id] = msgspec.structs.replace(node, on_error=on_error)
    return Definition(found, read_edges)
