"""Documents made from a good one by a few random changes; most of them are bad."""

import copy
import random
from collections.abc import Iterator
from typing import Any

_VALUES: list[Any] = [
    None, True, -1, 0, 3.5, 10**30, "", " ", "x", "draft", "published", "archived", "none", "@agents/Nobody",
    "@agents/Support", "@workflows/08", "@credentials/Weather key", "@users/nobody@example.com", "@robots/x",
    "agt_0000000000000000", "https://127.0.0.1", "https://new.example/x", "ftp://x", "\u0001", "é" * 200,
    "•" * 8,
    [], ["x"], [None], {}, {"x": 1}, {"type": "moon"}, [{"id": "a", "type": "moon"}],
]  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _places(inner, (*path, key))


def mutate(document: dict[str, Any], seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    changed = copy.deepcopy(document)
    for _ in range(chance.randint(1, 2)):
        path = chance.choice([place for place in _places(changed) if place != ("retinue",)])
        parent = changed
        for key in path[:-1]:
            parent = parent[key]
        match chance.randrange(5):
            case 0:
                del parent[path[-1]]
            case 1 if isinstance(parent, dict):
                parent[chance.choice(["Zebra", "support", "x y", "Support "])] = parent.pop(path[-1])
            case 2 if isinstance(parent, dict):
                parent[chance.choice(["extra", "Twin"])] = copy.deepcopy(parent[path[-1]])
            case _:
                parent[path[-1]] = chance.choice(_VALUES)
    return changed
