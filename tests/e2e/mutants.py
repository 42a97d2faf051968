"""`retinue serve` with one promise broken, to show that the checker would notice.

python -m tests.e2e.mutants ack_before_commit serve --port 0
"""

import asyncio
import sys

from retinue.chat.events import ChatMessage
from retinue.cli import main
from retinue.kit.context import Context
from retinue.users.events import UserInvited

_commit = Context.commit
_late: set[asyncio.Task[None]] = set()


def is_promise(ctx: Context) -> bool:
    return any(isinstance(one.event, UserInvited | ChatMessage) for one in ctx._emitted)


async def ack_before_commit(ctx: Context) -> None:
    """The answer goes out while the commit is still to come."""
    if not is_promise(ctx):
        await _commit(ctx)
        return

    async def later() -> None:
        await asyncio.sleep(0.05)
        await _commit(ctx)

    task = asyncio.create_task(later())
    _late.add(task)
    task.add_done_callback(_late.discard)


async def event_in_second_transaction(ctx: Context) -> None:
    """The change is committed, and its events a moment later."""
    is_one = is_promise(ctx)
    emitted = []
    if is_one:
        emitted, ctx._emitted = ctx._emitted, []
    await _commit(ctx)
    if is_one:
        await asyncio.sleep(0.05)
        second = Context(ctx.instance, ctx.principal, ctx.caller)
        second._tenant_id = ctx._tenant_id
        second._emitted = emitted
        await _commit(second)


MUTANTS = {
    "ack_before_commit": ack_before_commit,
    "event_in_second_transaction": event_in_second_transaction,
}

if __name__ == "__main__":
    Context.commit = MUTANTS[sys.argv.pop(1)]  # type: ignore[method-assign]
    main()
