"""The delegation graph of the agents: no cycles, limited depth."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from retinue.agents.errors import SubAgentCycle, SubAgentsTooDeep

MAX_DELEGATION_DEPTH = 5
"""Maximum number of times a task can be delegated."""


def require_valid_edge(edges: Iterable[tuple[str, str]], parent: str, child: str) -> None:
    """Raise if making `child` a sub-agent of `parent` closes a cycle or makes a chain too long."""
    down, up = defaultdict(list), defaultdict(list)
    for above, below in edges:
        down[above].append(below)
        up[below].append(above)
    if parent == child or parent in _reachable_from(down, child):
        raise SubAgentCycle
    if _height(up, parent) + 1 + _height(down, child) > MAX_DELEGATION_DEPTH:
        raise SubAgentsTooDeep


def _reachable_from(next_of: Mapping[str, list[str]], start: str) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for each in next_of.get(waiting.pop(), ()):
            if each not in reached:
                reached.add(each)
                waiting.append(each)
    return reached


def _height(next_of: Mapping[str, list[str]], start: str) -> int:
    """Return the length of the longest path from here, counted no further than the limit."""
    level, height = {start}, 0
    while height <= MAX_DELEGATION_DEPTH:
        level = {each for node in level for each in next_of.get(node, ())}
        if not level:
            break
        height += 1
    return height
