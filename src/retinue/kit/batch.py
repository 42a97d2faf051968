"""Many operations in one request: each for itself, or all of them or none."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.http.steps import step
from retinue.kit.schemas import Schema
from retinue.kit.validation import field_errors

MOST_OPERATIONS = 100
_STATUS = {"create": 201, "delete": 204}

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


class BatchFailed(RetinueError):
    """One of the operations failed, so none was carried out."""

    status, code = 422, "batch_failed"


class NotCarriedOut(RetinueError):
    """Another operation of the batch failed, and this one with it."""

    status, code = 424, "not_carried_out"


class BatchOperation(Schema, kw_only=True):
    """`id` names the object of every operation but create; `ref` is the caller's own name for this one."""

    op: Literal["create", "update", "delete", "publish", "archive"]
    id: Annotated[str, Meta(max_length=64)] | None = None
    data: dict[str, Any] | None = None
    ref: str | int | None = None


class Batch(Schema, kw_only=True):
    """`items` is another name of `operations`."""

    operations: list[BatchOperation] | None = None
    items: list[BatchOperation] | None = None
    atomic: bool = False


class BatchError(Schema, kw_only=True):
    code: str
    message: str
    details: dict[str, Any] | UnsetType = UNSET


class BatchItem(Schema, Generic[T], kw_only=True):
    """`status` is the HTTP status that the operation would have alone."""

    index: int
    ref: str | int | None
    op: str
    id: str | None
    status: int
    success: bool
    result: T | UnsetType | None = UNSET
    error: BatchError | UnsetType = UNSET


class BatchTotals(Schema, kw_only=True):
    total: int
    succeeded: int
    failed: int


class BatchAnswer(Schema, Generic[T], kw_only=True):
    data: list[BatchItem[T]]
    summary: BatchTotals


class Performed(msgspec.Struct, Generic[T], frozen=True):
    """What an operation did: to which object, and how that looks now, unless it is gone."""

    id: str
    shown: T | None


Perform = Callable[[Context, BatchOperation], Awaitable[Performed[T]]]


async def _nothing(_: Context) -> None:
    return None


async def carry_out(
    ctx: Context,
    body: Batch,
    perform: Perform[T],
    hold: Callable[[Context], Awaitable[None]] = _nothing,
) -> BatchAnswer[T]:
    """Every operation in its order; with `atomic`, the first that fails undoes the others.

    `hold` is what one transaction with many of them must hold first.
    """
    operations = _operations(body)
    if body.atomic:
        await hold(ctx)
        return await _all_or_none(ctx, operations, perform)
    return _answer([await _once(ctx, position, one, perform) for position, one in enumerate(operations)])


def read(one: BatchOperation, shape: type[S]) -> S:
    """The `data` of an operation; what is wrong with it is said by its path."""
    given: Any = one.data or {}
    try:
        return msgspec.convert(given, shape)
    except msgspec.ValidationError as error:
        problems = field_errors(error, given, shape)
        raise Invalid({f"data.{name}": why for name, why in problems.items()}) from None


def require_id(one: BatchOperation) -> str:
    if one.id is None:
        raise Invalid({"id": "is required"})
    return one.id


def _operations(body: Batch) -> list[BatchOperation]:
    found = body.operations if body.operations is not None else body.items
    if found is None:
        raise Invalid({"operations": "is required"})
    if not 0 < len(found) <= MOST_OPERATIONS:
        raise Invalid({"operations": f"takes 1 to {MOST_OPERATIONS} operations"})
    return found


async def _all_or_none(ctx: Context, operations: list[BatchOperation], perform: Perform[T]) -> BatchAnswer[T]:
    items: list[BatchItem[T]] = []
    for position, one in enumerate(operations):
        try:
            items.append(_succeeded(position, one, await perform(ctx, one)))
        except RetinueError as error:
            undone = [
                _failed(place, other, error if place == position else NotCarriedOut())
                for place, other in enumerate(operations)
            ]
            raise BatchFailed(details=msgspec.to_builtins(_answer(undone))) from error
    return _answer(items)


async def _once(ctx: Context, position: int, one: BatchOperation, perform: Perform[T]) -> BatchItem[T]:
    """An operation for itself, which a repetition of the whole request does not do again."""
    try:
        done = await step(ctx, f"operation-{position}", Performed[T], lambda unit: perform(unit, one))
    except RetinueError as error:
        return _failed(position, one, error)
    return _succeeded(position, one, done)


def _succeeded(position: int, one: BatchOperation, done: Performed[T]) -> BatchItem[T]:
    return BatchItem(
        index=position,
        ref=one.ref,
        op=one.op,
        id=done.id,
        status=_STATUS.get(one.op, 200),
        success=True,
        result=done.shown,
    )


def _failed(position: int, one: BatchOperation, error: RetinueError) -> BatchItem[Any]:
    told = BatchError(code=error.code, message=error.message)
    if error.details is not None:
        told.details = error.details
    return BatchItem(
        index=position, ref=one.ref, op=one.op, id=one.id, status=error.status, success=False, error=told
    )


def _answer(items: list[BatchItem[T]]) -> BatchAnswer[T]:
    succeeded = sum(item.success for item in items)
    return BatchAnswer(
        data=items,
        summary=BatchTotals(total=len(items), succeeded=succeeded, failed=len(items) - succeeded),
    )
