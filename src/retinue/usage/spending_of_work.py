"""Spending on models, reported to the domain whose work caused it."""

from collections.abc import Callable

import msgspec

from retinue.kit.context import Context


class SpendingRecorder(msgspec.Struct, frozen=True):
    """Records spending for a domain above whose work sets `Caller.lineage`.

    `record(unit, tokens, cost_usd)` adds to the transaction that counts the usage; the cost is None if the
    price is unknown.
    """

    record: Callable[[Context, int, float | None], None]


def report_spending(unit: Context, tokens: int, cost_usd: float | None) -> None:
    """Tell what was spent, if it was caused by work that is counted."""
    if not unit.caller.lineage:
        return
    for recorder in unit.instance.registry.all(SpendingRecorder):
        recorder.record(unit, tokens, cost_usd)
