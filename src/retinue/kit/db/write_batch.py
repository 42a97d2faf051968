"""Batches of writes; on PostgreSQL several become one statement and thus one round trip (ADR 10).

`WITH a AS (UPDATE …) INSERT …` is atomic, but its parts do not see each other and have no defined order.
Only writes whose order does not matter are therefore merged.
"""

import functools
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from retinue.kit.db.engine import StatementBatch
from retinue.kit.db.statements import CompiledStatement

# Preparing a statement with more parts costs more than it saves.
_MAX_MERGED_WRITES = 8

_PARAMETER = re.compile(r"\$(\d+)")


class PendingWrite(msgspec.Struct, frozen=True):
    """A change that can be deferred to the commit: nothing depends on its result."""

    compiled: CompiledStatement
    arguments: list[Any]


def build_batch(writes: Sequence[PendingWrite], dialect: str) -> StatementBatch:
    """Return the statements to run; merge them into one if the result is the same."""
    if dialect == "postgresql" and 1 < len(writes) <= _MAX_MERGED_WRITES and _are_independent(writes):
        sql = _merged_sql(tuple(write.compiled.sql for write in writes))
        return [(sql, [[argument for write in writes for argument in write.arguments]])]
    batch: StatementBatch = []
    for write in writes:
        sql = write.compiled.sql
        if batch and batch[-1][0] == sql:
            batch[-1][1].append(write.arguments)
        else:
            batch.append((sql, [write.arguments]))
    return batch


def _are_independent(writes: Sequence[PendingWrite]) -> bool:
    """Return whether no two writes touch the same table, unless both only insert rows."""
    added: set[str] = set()
    touched: set[str] = set()
    for write in writes:
        tables = write.compiled.tables
        if not tables or tables & touched:
            return False
        if write.compiled.is_plain_insert:
            added |= tables
        elif tables & added:
            return False
        else:
            touched |= tables
    return True


@functools.lru_cache(maxsize=1024)
def _merged_sql(parts: tuple[str, ...]) -> str:
    """Attach every part but the first to the first as a `WITH` clause, with renumbered parameters.

    PostgreSQL runs the main statement first, then the `WITH` parts from last to first. This is not
    guaranteed, and only the lock order depends on it: rows are locked in the same order as by separate
    statements, so merged and separate writes do not deadlock.
    """
    renumbered = []
    offset = 0
    for part in parts:
        renumbered.append(_renumber_parameters(offset, part))
        offset += max((int(number) for number in _PARAMETER.findall(part)), default=0)
    first, *others = renumbered
    named = ", ".join(f"part_{number} AS ({part})" for number, part in enumerate(reversed(others)))
    return f"WITH {named} {first}"


def _renumber_parameters(offset: int, part: str) -> str:
    return _PARAMETER.sub(lambda match: f"${int(match[1]) + offset}", part)
