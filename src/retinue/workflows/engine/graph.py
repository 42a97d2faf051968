"""Progress of an execution through its graph: pure functions, independent of which node ends first.

An edge is open until its source has ended, then taken or dead. A node is ready when none of its incoming
edges is open and at least one was taken. When all of them are dead, the node is skipped and its outgoing
edges are dead as well.
"""

from collections.abc import Callable, Iterable

import msgspec

from retinue.workflows.definition import ERROR_BRANCH, Definition, Edge

OPEN, TAKEN, DEAD = "?", "T", "D"


class Advance(msgspec.Struct):
    """The effect of an ended node; `progress` is the new state of the edges."""

    progress: str
    ready: list[str]
    skipped: list[str]


def initial_advance(definition: Definition) -> Advance:
    return Advance(OPEN * len(definition.edges), list(definition.roots), [])


def after_success(
    definition: Definition, progress: str, node_id: str, is_taken: Callable[[Edge], bool]
) -> Advance:
    return _advance_from(definition, progress, node_id, is_taken)


def after_handled_failure(definition: Definition, progress: str, node_id: str) -> Advance:
    """Advance along the error branch of a failed node."""
    return _advance_from(definition, progress, node_id, lambda edge: edge.when == ERROR_BRANCH)


def retry_advance(definition: Definition, progress: str, rerun_ids: set[str]) -> Advance:
    """Advance an execution in which `rerun_ids` run again and all other nodes keep their results."""
    edges = [
        OPEN if edge.source in rerun_ids else state
        for edge, state in zip(definition.edges, progress, strict=True)
    ]
    advance = Advance("", [], [])
    roots = [id for id in definition.roots if id in rerun_ids]
    _resolve_targets(
        definition, edges, [id for id in definition.nodes if id in rerun_ids and id not in roots], advance
    )
    advance.ready = roots + advance.ready
    advance.progress = "".join(edges)
    return advance


def descendants_of(definition: Definition, node_ids: Iterable[str]) -> set[str]:
    """Return these nodes and all nodes after them."""
    found: set[str] = set()
    pending = list(node_ids)
    while pending:
        node_id = pending.pop()
        if node_id not in found:
            found.add(node_id)
            pending += [definition.edges[position].target for position in definition.outgoing[node_id]]
    return found


def _advance_from(
    definition: Definition, progress: str, node_id: str, is_taken: Callable[[Edge], bool]
) -> Advance:
    edges = list(progress)
    advance = Advance("", [], [])
    targets: list[str] = []
    for position in definition.outgoing[node_id]:
        edge = definition.edges[position]
        edges[position] = TAKEN if is_taken(edge) else DEAD
        targets.append(edge.target)
    _resolve_targets(definition, edges, targets, advance)
    advance.progress = "".join(edges)
    return advance


def _resolve_targets(
    definition: Definition, edges: list[str], targets: Iterable[str], advance: Advance
) -> None:
    pending = list(dict.fromkeys(targets))
    while pending:
        node_id = pending.pop(0)
        states = {edges[position] for position in definition.incoming[node_id]}
        if OPEN in states:
            continue
        if TAKEN in states:
            advance.ready.append(node_id)
            continue
        advance.skipped.append(node_id)
        for position in definition.outgoing[node_id]:
            edges[position] = DEAD
            target = definition.edges[position].target
            if target not in pending:
                pending.append(target)
