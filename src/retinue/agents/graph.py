"""How agents hang together through delegation: no cycles, and not too deep."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from retinue.agents.errors import SubAgentCycle, SubAgentsTooDeep

MAX_DEPTH = 5
"""How many times a task can be handed on."""


def check_edge(edges: Iterable[tuple[str, str]], parent: str, child: str) -> None:
    """Refuse to make `child` a sub-agent of `parent` where that closes a cycle or makes a chain too long."""
    down, up = defaultdict(list), defaultdict(list)
    for above, below in edges:
        down[above].append(below)
        up[below].append(above)
    if parent == child or parent in _reached(down, child):
        raise SubAgentCycle
    if _height(up, parent) + 1 + _height(down, child) > MAX_DEPTH:
        raise SubAgentsTooDeep


def _reached(next_of: Mapping[str, list[str]], start: str) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        for each in next_of.get(waiting.pop(), ()):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return found


def _height(next_of: Mapping[str, list[str]], start: str) -> int:
    """The longest way from here, counted only as far as it matters."""
    level, height = {start}, 0
    while height <= MAX_DEPTH:
        level = {each for one in level for each in next_of.get(one, ())}
        if not level:
            break
        height += 1
    return height
