"""How a run moves through its graph: pure, and the same whichever of two nodes ends first.

Every edge is open until its source has ended, then taken or dead. A node is ready when none of the edges
into it is open and one of them was taken; when all of them are dead it is skipped, and the edges out of it
are dead as well.
"""

from collections.abc import Callable, Iterable

import msgspec

from retinue.workflows.definition import ON_FAILURE, Definition, Edge

OPEN, TAKEN, DEAD = "?", "T", "D"


class Advance(msgspec.Struct):
    """What an ended node brought about; `progress` is the new state of the edges."""

    progress: str
    ready: list[str]
    skipped: list[str]


def begin(definition: Definition) -> Advance:
    return Advance(OPEN * len(definition.edges), list(definition.roots), [])


def after_success(
    definition: Definition, progress: str, node_id: str, takes: Callable[[Edge], bool]
) -> Advance:
    return _after(definition, progress, node_id, takes)


def after_handled_failure(definition: Definition, progress: str, node_id: str) -> Advance:
    """The node failed, and its error branch goes on."""
    return _after(definition, progress, node_id, lambda edge: edge.when == ON_FAILURE)


def begin_again(definition: Definition, progress: str, again: set[str]) -> Advance:
    """What is left of a run whose nodes are done but for `again`, with all that follows from them."""
    edges = [
        OPEN if edge.source in again else state
        for edge, state in zip(definition.edges, progress, strict=True)
    ]
    advance = Advance("", [], [])
    roots = [id for id in definition.roots if id in again]
    _settle(definition, edges, [id for id in definition.nodes if id in again and id not in roots], advance)
    advance.ready = roots + advance.ready
    advance.progress = "".join(edges)
    return advance


def following(definition: Definition, node_ids: Iterable[str]) -> set[str]:
    """These nodes and all that come after them."""
    found: set[str] = set()
    waiting = list(node_ids)
    while waiting:
        node_id = waiting.pop()
        if node_id not in found:
            found.add(node_id)
            waiting += [definition.edges[position].target for position in definition.outgoing[node_id]]
    return found


def _after(definition: Definition, progress: str, node_id: str, takes: Callable[[Edge], bool]) -> Advance:
    edges = list(progress)
    advance = Advance("", [], [])
    touched: list[str] = []
    for position in definition.outgoing[node_id]:
        edge = definition.edges[position]
        edges[position] = TAKEN if takes(edge) else DEAD
        touched.append(edge.target)
    _settle(definition, edges, touched, advance)
    advance.progress = "".join(edges)
    return advance


def _settle(definition: Definition, edges: list[str], touched: Iterable[str], advance: Advance) -> None:
    waiting = list(dict.fromkeys(touched))
    while waiting:
        node_id = waiting.pop(0)
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
            if target not in waiting:
                waiting.append(target)
