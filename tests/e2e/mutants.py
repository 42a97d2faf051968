"""`retinue serve` with one promise broken, to show that the checker would notice.

python -m tests.e2e.mutants ack_before_commit serve --port 0
"""

import asyncio
import shutil
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from retinue.adapters.blobs.local import LocalBlobs
from retinue.chat.events import ChatMessage
from retinue.cli import main
from retinue.forms.after import processing
from retinue.forms.events import FormSubmissionCreated
from retinue.forms.intake import file_uploads, submit
from retinue.forms.models import Submission
from retinue.forms.open_form import OpenForm
from retinue.kit.context import Context
from retinue.users.events import UserInvited

WINDOW_S = 0.05
"""For how long a promise is half kept, so that a kill is likely to come between."""
_commit = Context.commit
_claim_all = file_uploads.claim_files
_save_row = processing._save_row
_store = submit._store
_put = LocalBlobs.put
_late: set[asyncio.Task[None]] = set()


def is_promise(ctx: Context) -> bool:
    promises = UserInvited | ChatMessage | FormSubmissionCreated
    return any(isinstance(one.event, promises) for one in ctx._emitted)


def do_later(work: Coroutine[Any, Any, None]) -> None:
    async def later() -> None:
        await asyncio.sleep(WINDOW_S)
        await work

    task = asyncio.create_task(later())
    _late.add(task)
    task.add_done_callback(_late.discard)


def second(ctx: Context) -> Context:
    """Another transaction for the same caller, opened whether that is allowed or not."""
    other = Context(ctx.instance, ctx.principal, ctx.caller)
    other._tenant_id = ctx._tenant_id
    return other


async def ack_before_commit(ctx: Context) -> None:
    """The answer goes out while the commit is still to come."""
    if is_promise(ctx):
        do_later(_commit(ctx))
    else:
        await _commit(ctx)


async def event_in_second_transaction(ctx: Context) -> None:
    """The change is committed, and its events a moment later."""
    is_one = is_promise(ctx)
    emitted = []
    if is_one:
        emitted, ctx._emitted = ctx._emitted, []
    await _commit(ctx)
    if is_one:
        await asyncio.sleep(WINDOW_S)
        other = second(ctx)
        other._emitted = emitted
        await _commit(other)


async def claim_before(ctx: Context, form: OpenForm, submission: Submission) -> Any:
    """A file is claimed in a transaction that commits before its submission does."""
    async with second(ctx) as other:
        claimed = await _claim_all(other, form, submission)
    await asyncio.sleep(WINDOW_S)
    return claimed


async def save_row_before(ctx: Context, form: OpenForm, submission: Submission) -> None:
    """The row of the table is committed, and its submission after that."""
    async with second(ctx) as other:
        await _save_row(other, form, submission)
    await asyncio.sleep(WINDOW_S)
    await _store(ctx, form, submission)


async def save_row_after(ctx: Context, form: OpenForm, submission: Submission) -> None:
    """The submission is committed, and its row of the table after that."""

    async def save() -> None:
        await asyncio.sleep(WINDOW_S)
        async with second(ctx) as other:
            held = await other.db.lock(Submission, submission.id)
            assert held is not None
            await _save_row(other, form, held)
            await other.db.update(held, data_table_row_id=held.data_table_row_id)

    ctx.after_commit(save)


async def put_later(blobs: LocalBlobs, key: str, source: Path) -> None:
    """An upload is answered while its bytes are still to be stored."""
    copy = Path(shutil.copy(source, source.with_suffix(".late")))
    do_later(_put(blobs, key, copy))


def replacing(owner: object, name: str, replacement: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, replacement)


MUTANTS = {
    "ack_before_commit": replacing(Context, "commit", ack_before_commit),
    "event_in_second_transaction": replacing(Context, "commit", event_in_second_transaction),
}
FORM_MUTANTS = {
    **MUTANTS,
    "file_claimed_before": replacing(file_uploads, "claim_files", claim_before),
    "row_saved_before": replacing(submit, "_store", save_row_before),
    "row_saved_after": replacing(processing, "_save_row", save_row_after),
    "bytes_after_the_answer": replacing(LocalBlobs, "put", put_later),
}


def become(name: str) -> None:
    FORM_MUTANTS[name]()


if __name__ == "__main__":
    become(sys.argv.pop(1))
    main()
