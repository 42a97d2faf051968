"""Writes that go to the database together: PostgreSQL takes several in one statement, and so in one exchange.

`WITH a AS (UPDATE …) INSERT …` changes all or nothing, but its parts neither see each other nor come in a
certain order. So only writes that would do the same in any order are put together.
"""

import functools
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from retinue.kit.db.engine import Batch
from retinue.kit.db.statements import Compiled

# A statement with many parts is a long text that the database prepares for little gain.
_MOST_TOGETHER = 8

_PLACE = re.compile(r"\$(\d+)")


class Write(msgspec.Struct, frozen=True):
    """A change that can wait for the commit: nothing depends on what it answers."""

    compiled: Compiled
    arguments: list[Any]


def batched(writes: Sequence[Write], dialect: str) -> Batch:
    """What is to be run; one statement for all where that means the same."""
    if dialect == "postgresql" and 1 < len(writes) <= _MOST_TOGETHER and _are_independent(writes):
        sql = _together(tuple(write.compiled.sql for write in writes))
        return [(sql, [[argument for write in writes for argument in write.arguments]])]
    batch: Batch = []
    for write in writes:
        sql = write.compiled.sql
        if batch and batch[-1][0] == sql:
            batch[-1][1].append(write.arguments)
        else:
            batch.append((sql, [write.arguments]))
    return batch


def _are_independent(writes: Sequence[Write]) -> bool:
    """Whether no write touches a table of another, except that both only add rows of their own to it."""
    added: set[str] = set()
    touched: set[str] = set()
    for write in writes:
        tables = write.compiled.tables
        if not tables or tables & touched:
            return False
        if write.compiled.only_adds:
            added |= tables
        elif tables & added:
            return False
        else:
            touched |= tables
    return True


@functools.lru_cache(maxsize=1024)
def _together(parts: tuple[str, ...]) -> str:
    """Every part but the first becomes a `WITH` of the first; their places are counted on.

    PostgreSQL runs what the `WITH` is of first, and then its parts from the last to the first. That is not
    promised and nothing here depends on it but this: rows are held in the order in which they would be by
    one statement after another, so that those who write together and those who do not never deadlock.
    """
    counted_on = []
    taken = 0
    for part in parts:
        counted_on.append(_counted_from(taken, part))
        taken += max((int(place) for place in _PLACE.findall(part)), default=0)
    first, *others = counted_on
    named = ", ".join(f"part_{number} AS ({part})" for number, part in enumerate(reversed(others)))
    return f"WITH {named} {first}"


def _counted_from(taken: int, part: str) -> str:
    return _PLACE.sub(lambda place: f"${int(place[1]) + taken}", part)
