"""Queries on forms and submissions: pages by an index, totals from daily sums, full-text search."""

import functools
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.forms.after.search_index import (
    filter_conditions,
    find_numbers,
    like_conditions,
    like_parameters,
    query_words,
)
from retinue.forms.models import Form, FormDay, FormUpload, Submission, SubmissionStatus
from retinue.forms.schemas import SubmissionFilter, SubmissionList
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.text_match import escape_like
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import MAX_PER_PAGE, Listing
from retinue.kit.schema.validation import read_instant

# Up to this many filtered submissions, a scan is faster than the search index.
_MAX_SCANNED_SUBMISSIONS = 10_000
ERASE_BATCH_SIZE = 500
_EXPORT_BATCH_SIZE = 500

FORMS = Listing(
    Form,
    searches=("name", "slug", "description"),
    sorts=("created_at", "updated_at", "name", "status", "published_at"),
    filters=("status",),
)

_forms, _submissions, _days = Form.__table__, Submission.__table__, FormDay.__table__


_OF_CHANNEL: Statement[Referrer] = Statement(
    sa.select(_forms.c.id, _forms.c.name)
    .where(sa.cast(_forms.c.settings, sa.Text()).like(sa.bindparam("used", type_=sa.Text()), escape="\\"))
    .order_by(_forms.c.created_at, _forms.c.id),
    lambda row: Referrer(row[0], row[1]),
)


class FormTotals(msgspec.Struct):
    submissions: int = 0
    processed: int = 0
    archived: int = 0
    views: int = 0


def _count_of_status(status: SubmissionStatus) -> Any:
    return sa.func.sum(sa.case((_submissions.c.status == sa.literal(status.value), 1), else_=0))


_uncounted = _submissions.c.is_uncounted == sa.true()
_TOTALS = Statement(
    sa.union_all(
        sa.select(
            *(sa.func.sum(_days.c[name]) for name in ("submissions", "processed", "archived", "views"))
        ).where(_days.c.form_id == sa.bindparam("form_id", type_=sa.Text())),
        sa.select(
            sa.func.count(),
            _count_of_status(SubmissionStatus.processed),
            _count_of_status(SubmissionStatus.archived),
            sa.literal(0, type_=sa.BigInteger()),
        )
        .select_from(_submissions)
        .where(_submissions.c.form_id == sa.bindparam("form_id", type_=sa.Text()), _uncounted),
    )
)
_COUNTS = Statement(
    sa.union_all(
        sa.select(_days.c.form_id, sa.func.sum(_days.c.submissions))
        .where(in_list(_days.c.form_id, "ids"))
        .group_by(_days.c.form_id),
        sa.select(_submissions.c.form_id, sa.func.count())
        .where(in_list(_submissions.c.form_id, "ids"), _uncounted)
        .group_by(_submissions.c.form_id),
    )
)


async def load_totals(ctx: Context, form_id: str) -> FormTotals:
    """Return the daily sums plus the uncounted submissions, read in one statement."""
    totals = FormTotals()
    for row in await ctx.db.rows(_TOTALS, form_id=form_id):
        for name, number in zip(FormTotals.__struct_fields__, row, strict=True):
            setattr(totals, name, getattr(totals, name) + int(number or 0))
    return totals


async def submission_counts(ctx: Context, form_ids: Sequence[str]) -> dict[str, int]:
    counts = dict.fromkeys(form_ids, 0)
    for form_id, number in await ctx.db.rows(_COUNTS, ids=list_parameter(form_ids)) if form_ids else []:
        counts[form_id] += int(number)
    return counts


class SubmissionSlice(msgspec.Struct):
    items: list[Submission]
    total: int
    page: int
    per_page: int


async def page_of_submissions(ctx: Context, form: Form, query: SubmissionList) -> SubmissionSlice:
    per_page = min(query.per_page, MAX_PER_PAGE)
    given = _filter_parameters(form, query)
    descending = query.sort.startswith("-")
    offset = (query.page - 1) * per_page
    if _is_search(query):
        result = await _search(ctx, query_words(query.search or ""), given, offset + per_page, descending)
        items = await _load_submissions(ctx, result.some[offset : offset + per_page], descending)
        return SubmissionSlice(items, result.total, query.page, per_page)
    total = await _count_matching(ctx, form, given)
    items = []
    if offset < total:
        statement = _page_statement(tuple(sorted(given)), descending)
        items = await ctx.db.rows(statement, row_limit=per_page, row_offset=offset, **given)
    return SubmissionSlice(items, total, query.page, per_page)


class _SearchResult(msgspec.Struct):
    """Matching submissions in order, by id or by number in the index."""

    some: list[str | int]
    total: int = 0


def _is_search(query: SubmissionFilter | SubmissionList) -> bool:
    return query.search is not None and bool(query.search.strip())


async def _search(
    ctx: Context, words: list[str], filters: JsonObject, shown: int, descending: bool
) -> _SearchResult:
    """Return the first `shown` matches and the total."""
    if not words:
        return _SearchResult([])
    names = tuple(sorted(filters))
    is_filtered = len(names) > 1
    liked = {**filters, **like_parameters(words)}
    if (
        is_filtered
        and int(await ctx.db.scalar(_count_statement(names, _MAX_SCANNED_SUBMISSIONS), **filters))
        <= _MAX_SCANNED_SUBMISSIONS
    ):
        rows = await ctx.db.rows(_scan_statement(names, len(words), descending, False), **liked)
        return _SearchResult([row[0] for row in rows], len(rows))
    # Uncounted submissions first: one that is indexed in between is found twice rather than missed.
    rows = await ctx.db.rows(_scan_statement(names, len(words), descending, True), **liked)
    new: list[str | int] = [row[0] for row in rows]
    most = max(0, shown - len(new)) if descending else shown
    old, indexed = await find_numbers(ctx, words, filters, most=most, descending=descending)
    # Ascending: uncounted submissions follow only after all indexed ones, not after those of this page.
    some = [*new, *old] if descending else [*old, *(new if len(old) == indexed else ())]
    return _SearchResult(some, len(new) + indexed)


async def _load_submissions(ctx: Context, some: Sequence[str | int], descending: bool) -> list[Submission]:
    """Return the submissions that still exist, in order."""
    ids = [key for key in some if isinstance(key, str)]
    numbers = [key for key in some if isinstance(key, int)]
    submissions = await ctx.db.rows(_BY_IDS, ids=list_parameter(ids)) if ids else []
    if numbers:
        padded = [*numbers, *[numbers[-1]] * (MAX_PER_PAGE - len(numbers))]
        submissions += await ctx.db.rows(
            _BY_NUMBERS, **{f"number_{at}": number for at, number in enumerate(padded)}
        )
    unique = {submission.id: submission for submission in submissions}.values()
    return sorted(unique, key=lambda submission: (submission.created_at, submission.id), reverse=descending)


def _filter_parameters(form: Form, query: SubmissionFilter | SubmissionList) -> JsonObject:
    given: JsonObject = {"form_id": form.id}
    if query.status is not None:
        given["status"] = query.status
    for name in ("after", "before"):
        text = getattr(query, name)
        if text is not None:
            given[name] = read_instant(name, text.replace(" ", "+"))
    return given


async def _count_matching(ctx: Context, form: Form, filters: JsonObject) -> int:
    if filters.keys() <= {"form_id", "status"}:
        totals = await load_totals(ctx, form.id)
        rest = totals.submissions - totals.processed - totals.archived
        by_status = {"received": rest, "processed": totals.processed, "archived": totals.archived}
        return by_status[filters["status"]] if "status" in filters else totals.submissions
    return int(await ctx.db.scalar(_count_statement(tuple(sorted(filters))), **filters))


@functools.cache
def _scan_statement(names: tuple[str, ...], words: int, descending: bool, only_new: bool) -> Statement[Any]:
    """`only_new`: only submissions that are not indexed yet."""
    source_table: Any = _submissions
    conditions = [*filter_conditions(names), *like_conditions(words)]
    if only_new:
        # A fence: with status or time in the same query, the database would scan all other submissions too.
        new = sa.select(source_table.c.id, source_table.c.created_at, source_table.c.status)
        new = new.where(*filter_conditions(("form_id",)), *like_conditions(words), _uncounted)
        source_table = new.order_by(*_ordered(source_table, descending)).offset(0).subquery()
        conditions = filter_conditions([name for name in names if name != "form_id"], source_table)
    source = sa.select(source_table.c.id).where(*conditions).order_by(*_ordered(source_table, descending))
    return Statement(source, heavy=True)


def _ordered(source: Any, descending: bool) -> list[Any]:
    order: list[Any] = [source.c.created_at, source.c.id]
    return [column.desc() for column in order] if descending else order


_BY_IDS = record_statement(Submission, sa.select(_submissions).where(in_list(_submissions.c.id, "ids")))
_BY_NUMBERS = record_statement(
    Submission,
    sa.select(_submissions).where(
        _submissions.c.number.in_(
            [sa.bindparam(f"number_{at}", type_=sa.BigInteger()) for at in range(MAX_PER_PAGE)]
        )
    ),
)


@functools.cache
def _page_statement(names: tuple[str, ...], descending: bool) -> Statement[Submission]:
    source = (
        sa.select(_submissions)
        .where(*filter_conditions(names))
        .order_by(*_ordered(_submissions, descending))
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
        .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
    )
    return record_statement(Submission, source, heavy=True)


@functools.cache
def _count_statement(names: tuple[str, ...], most: int | None = None) -> Statement[Any]:
    """Count all, or up to `most` + 1, by a column that every index has."""
    some = sa.select(_submissions.c.created_at).where(*filter_conditions(names))
    some = some if most is None else some.limit(most + 1)
    return Statement(sa.select(sa.func.count()).select_from(some.subquery()), heavy=True)


async def iterate_submissions(
    ctx: Context, form: Form, query: SubmissionFilter
) -> AsyncIterator[list[Submission]]:
    """Yield the matching submissions in batches, oldest first."""
    words = query_words(query.search or "")
    if _is_search(query) and not words:
        return
    given = _filter_parameters(form, query)
    statement = _next_batch_statement(tuple(sorted(given)), len(words))
    given |= like_parameters(words)
    last_at, last_id = "", ""
    while True:
        batch = await ctx.db.rows(statement, last_at=last_at, last_id=last_id, **given)
        if batch:
            yield batch
            last_at, last_id = batch[-1].created_at, batch[-1].id
        if len(batch) < _EXPORT_BATCH_SIZE:
            return


@functools.cache
def _next_batch_statement(names: tuple[str, ...], words: int) -> Statement[Submission]:
    last = sa.tuple_(sa.bindparam("last_at", type_=sa.Text()), sa.bindparam("last_id", type_=sa.Text()))
    after_last = sa.tuple_(_submissions.c.created_at, _submissions.c.id) > last
    source = (
        sa.select(_submissions)
        .where(*filter_conditions(names), *like_conditions(words), after_last)
        .order_by(_submissions.c.created_at, _submissions.c.id)
        .limit(_EXPORT_BATCH_SIZE)
    )
    return record_statement(Submission, source, heavy=True)


_OF_USER = Statement(
    sa.select(_submissions.c.id)
    .where(
        _submissions.c.form_id == sa.bindparam("form_id", type_=sa.Text()),
        _submissions.c.submitted_by == sa.bindparam("user_id", type_=sa.Text()),
        _submissions.c.is_signed_in == sa.true(),
    )
    .limit(1)
)


async def has_submitted(ctx: Context, form_id: str, user_id: str) -> bool:
    return await ctx.db.first(_OF_USER, form_id=form_id, user_id=user_id) is not None


async def find_submission(ctx: Context, form: Form, submission_id: str) -> Submission | None:
    return await ctx.db.find(Submission, id=submission_id, form_id=form.id)


# References to forms, for domains whose records a form points at.


async def find_forms_of_workflow(ctx: Context, workflow_id: str) -> list[Referrer]:
    return [Referrer(form.id, form.name) for form in await ctx.db.all(Form, workflow_id=workflow_id)]


async def detach_workflow(ctx: Context, workflow_id: str) -> None:
    """Do nothing: a form whose workflow was deleted simply starts none."""


async def find_forms_of_table(ctx: Context, table_id: str) -> list[Referrer]:
    """Return forms that store rows in a table or take options from it."""
    return [Referrer(form.id, form.name) for form in await ctx.db.all(Form) if table_id in _tables_of(form)]


async def find_forms_of_channel(ctx: Context, channel_id: str) -> list[Referrer]:
    """Return the forms that report their submissions to a notification channel."""
    return await ctx.db.rows(_OF_CHANNEL, used=f'%"{escape_like(channel_id)}"%')


async def detach_channel(ctx: Context, channel_id: str) -> None:
    """Do nothing: the creator of a form is told that its channel is gone."""


def _tables_of(form: Form) -> set[str]:
    used = {field["data_source"]["table_id"] for field in form.fields if field.get("data_source")}
    return used | ({form.data_table_config.table_id} if form.data_table_config else set())


async def detach_table(ctx: Context, table_id: str) -> None:
    """Do nothing: a table that is referred to cannot be deleted."""


async def find_submission_of_file(ctx: Context, file_id: str) -> list[Referrer]:
    upload = await ctx.db.get(FormUpload, file_id)
    if upload is None or upload.submission_id is None:
        return []
    return [Referrer(upload.submission_id, "submission")]


async def detach_file(ctx: Context, file_id: str) -> None:
    upload = await ctx.db.get(FormUpload, file_id)
    if upload is not None:
        await ctx.db.delete(upload)
