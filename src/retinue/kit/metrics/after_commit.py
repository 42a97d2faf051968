"""Counting of what a transaction stores, once it has committed."""

from retinue.kit.context import Context
from retinue.kit.metrics.series import CounterDeclaration


def count_after_commit(ctx: Context, counter: CounterDeclaration, *labels: str) -> None:
    if not counter.is_on:
        return

    async def count() -> None:
        counter.count(*labels)

    ctx.after_commit(count)
