"""Batches: many operations in one request, independently or atomically."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.http.idempotent_steps import idempotent_step
from retinue.kit.ignored_fields import report_unknown_keys
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema
from retinue.kit.schema.validation import field_errors

MAX_OPERATIONS = 100
_STATUS = {"create": 201, "delete": 204}

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


class BatchFailed(RetinueError):
    """An operation failed, so none was carried out. The details contain its error."""

    status, code = 422, "batch_failed"


class NotCarriedOut(RetinueError):
    """This operation was not carried out because another operation in the batch failed."""

    status, code = 424, "not_carried_out"


class BatchOperation(Schema, kw_only=True):
    """One operation of a batch. `id` is required except for create; `ref` is a label chosen by the caller."""

    op: Literal["create", "update", "delete", "publish", "archive"]
    id: Annotated[str, Meta(max_length=64)] | None = None
    data: JsonObject | None = None
    ref: str | int | None = None


class Batch(Schema, kw_only=True):
    """A batch of operations; `items` is an alias of `operations`."""

    operations: list[BatchOperation] | None = None
    items: list[BatchOperation] | None = None
    atomic: bool = False


class BatchError(Schema, kw_only=True):
    code: str
    message: str
    details: JsonObject | UnsetType = UNSET


class BatchItem(Schema, Generic[T], kw_only=True):
    """The result of one operation; `status` is the HTTP status it would have on its own."""

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


class OperationResult(msgspec.Struct, Generic[T], frozen=True):
    """The object of an operation and its new public form; None if it was deleted."""

    id: str
    shown: T | None


Perform = Callable[[Context, BatchOperation], Awaitable[OperationResult[T]]]


async def _nothing(_: Context) -> None:
    return None


async def run_batch(
    ctx: Context,
    body: Batch,
    perform: Perform[T],
    hold: Callable[[Context], Awaitable[None]] = _nothing,
) -> BatchAnswer[T]:
    """Run the operations in order; with `atomic`, the first failure rolls back all of them.

    `hold` acquires the locks that an atomic transaction needs first.
    """
    operations = _operations(body)
    place = "operations" if body.operations is not None else "items"
    if body.atomic:
        await hold(ctx)
        return await _all_or_none(ctx, operations, perform, place)
    results = []
    for position, operation in enumerate(operations):
        with _reporting_below(ctx, f"{place}.{position}"):
            results.append(await _run_alone(ctx, position, operation, perform))
    return batch_answer(results)


def _reporting_below(ctx: Context, path: str) -> AbstractContextManager[None]:
    """Report names without effect under the path of an operation."""
    ignored = ctx.caller.ignored
    return nullcontext() if ignored is None else ignored.below(path)


def parse_operation_data(ctx: Context, operation: BatchOperation, shape: type[S]) -> S:
    """Return the validated `data` of an operation; raise `Invalid` with the paths of its errors."""
    given: Any = operation.data or {}
    try:
        data = msgspec.convert(given, shape)
    except msgspec.ValidationError as error:
        problems = field_errors(error, given, shape)
        raise Invalid({f"data.{name}": message for name, message in problems.items()}) from None
    report_unknown_keys(ctx.caller.ignored, given, shape, "data")
    return data


def require_id(operation: BatchOperation) -> str:
    if operation.id is None:
        raise Invalid({"id": "is required"})
    return operation.id


def _operations(body: Batch) -> list[BatchOperation]:
    operations = body.operations if body.operations is not None else body.items
    if operations is None:
        raise Invalid({"operations": "is required"})
    if not 0 < len(operations) <= MAX_OPERATIONS:
        raise Invalid({"operations": f"must have 1 to {MAX_OPERATIONS} operations"})
    return operations


async def _all_or_none(
    ctx: Context, operations: list[BatchOperation], perform: Perform[T], place: str
) -> BatchAnswer[T]:
    items: list[BatchItem[T]] = []
    for position, operation in enumerate(operations):
        try:
            with _reporting_below(ctx, f"{place}.{position}"):
                items.append(_succeeded(position, operation, await perform(ctx, operation)))
        except RetinueError as error:
            undone = [
                _failed(index, other, error if index == position else NotCarriedOut())
                for index, other in enumerate(operations)
            ]
            raise BatchFailed(details=msgspec.to_builtins(batch_answer(undone))) from error
    return batch_answer(items)


async def _run_alone(
    ctx: Context, position: int, operation: BatchOperation, perform: Perform[T]
) -> BatchItem[T]:
    """Run an operation independently; a retry of the whole request does not run it again."""
    try:
        done = await idempotent_step(
            ctx, f"operation-{position}", OperationResult[T], lambda unit: perform(unit, operation)
        )
    except RetinueError as error:
        return _failed(position, operation, error)
    return _succeeded(position, operation, done)


def _succeeded(position: int, operation: BatchOperation, done: OperationResult[T]) -> BatchItem[T]:
    return BatchItem(
        index=position,
        ref=operation.ref,
        op=operation.op,
        id=done.id,
        status=_STATUS.get(operation.op, 200),
        success=True,
        result=done.shown,
    )


def _failed(position: int, operation: BatchOperation, error: RetinueError) -> BatchItem[Any]:
    return BatchItem(
        index=position,
        ref=operation.ref,
        op=operation.op,
        id=operation.id,
        status=error.status,
        success=False,
        error=to_batch_error(error),
    )


def to_batch_error(error: RetinueError) -> BatchError:
    batch_error = BatchError(code=error.code, message=error.message)
    if error.details is not None:
        batch_error.details = error.details
    return batch_error


def batch_answer(items: list[BatchItem[T]]) -> BatchAnswer[T]:
    """Return the results with their totals."""
    succeeded = sum(item.success for item in items)
    return BatchAnswer(
        data=items,
        summary=BatchTotals(total=len(items), succeeded=succeeded, failed=len(items) - succeeded),
    )
