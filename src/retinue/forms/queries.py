"""Forms and submissions read: pages by an index, totals from the sums of days, searches by their words."""

import functools
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.forms.models import Form, FormDay, FormUpload, Submission, SubmissionStatus
from retinue.forms.schemas import SubmissionFilter, SubmissionList
from retinue.forms.searching import asked_words, compared, looks_like, numbers_of, patterns
from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement, reading
from retinue.kit.lists import MAX_PER_PAGE, Listing
from retinue.kit.references import Referrer
from retinue.kit.validation import read_instant

MOST_COUNTED = 50_000
"""Where counting what filters match ends: beyond, `total` is one more, and `total_is_exact` is false."""
MOST_FOUND = 1_000
"""Where a search stops counting: beyond, `total` is one more, and `total_is_exact` is false."""
# So many submissions that filters leave over are sooner looked through than found by their words.
_FEW = 10_000
BATCH = 500
_EXPORTED_AT_ONCE = 500

FORMS = Listing(
    Form,
    searches=("name", "slug", "description"),
    sorts=("created_at", "updated_at", "name", "status", "published_at"),
    filters=("status",),
)

_forms, _submissions, _days = Form.__table__, Submission.__table__, FormDay.__table__
_uploads = FormUpload.__table__


class Totals(msgspec.Struct):
    submissions: int = 0
    processed: int = 0
    archived: int = 0
    views: int = 0


def _is_one(status: SubmissionStatus) -> Any:
    return sa.func.sum(sa.case((_submissions.c.status == sa.literal(status.value), 1), else_=0))


_uncounted = _submissions.c.is_uncounted == sa.true()
_TOTALS: Statement[Any] = Statement(
    sa.union_all(
        sa.select(
            *(sa.func.sum(_days.c[name]) for name in ("submissions", "processed", "archived", "views"))
        ).where(_days.c.form_id == sa.bindparam("form_id", type_=sa.Text())),
        sa.select(
            sa.func.count(),
            _is_one(SubmissionStatus.processed),
            _is_one(SubmissionStatus.archived),
            sa.literal(0, type_=sa.BigInteger()),
        )
        .select_from(_submissions)
        .where(_submissions.c.form_id == sa.bindparam("form_id", type_=sa.Text()), _uncounted),
    )
)
_COUNTS: Statement[Any] = Statement(
    sa.union_all(
        sa.select(_days.c.form_id, sa.func.sum(_days.c.submissions))
        .where(one_of(_days.c.form_id, "ids"))
        .group_by(_days.c.form_id),
        sa.select(_submissions.c.form_id, sa.func.count())
        .where(one_of(_submissions.c.form_id, "ids"), _uncounted)
        .group_by(_submissions.c.form_id),
    )
)


async def totals(ctx: Context, form_id: str) -> Totals:
    """What the days add up to, and what they do not know of yet, at one moment."""
    found = Totals()
    for row in await ctx.db.rows(_TOTALS, form_id=form_id):
        for name, number in zip(Totals.__struct_fields__, row, strict=True):
            setattr(found, name, getattr(found, name) + int(number or 0))
    return found


async def submission_counts(ctx: Context, form_ids: Sequence[str]) -> dict[str, int]:
    counts = dict.fromkeys(form_ids, 0)
    for form_id, number in await ctx.db.rows(_COUNTS, ids=listed(form_ids)) if form_ids else []:
        counts[form_id] += int(number)
    return counts


class SubmissionSlice(msgspec.Struct):
    items: list[Submission]
    total: int
    is_exact: bool
    page: int
    per_page: int


async def page_of_submissions(ctx: Context, form: Form, query: SubmissionList) -> SubmissionSlice:
    per_page = min(query.per_page, MAX_PER_PAGE)
    given = _given(form, query)
    is_down = query.sort.startswith("-")
    offset = (query.page - 1) * per_page
    if _is_search(query):
        found = await _search(ctx, asked_words(query.search or ""), given, offset + per_page, is_down)
        items = await _records(ctx, found.some[offset : offset + per_page], is_down)
        return SubmissionSlice(items, len(found.some), found.are_all, query.page, per_page)
    total, is_exact = await _total(ctx, form, given)
    items = []
    if offset < total or not is_exact:
        statement = _page(tuple(sorted(given)), is_down)
        items = await ctx.db.rows(statement, row_limit=per_page, row_offset=offset, **given)
    return SubmissionSlice(items, total, is_exact, query.page, per_page)


class _Found(msgspec.Struct):
    """Submissions in their order: by their ids, or by their numbers in the index."""

    some: list[str | int]
    are_all: bool = True


def _is_search(query: SubmissionFilter | SubmissionList) -> bool:
    return query.search is not None and bool(query.search.strip())


async def _search(ctx: Context, words: list[str], given: dict[str, Any], shown: int, is_down: bool) -> _Found:
    """As many as are shown, and so many more as are counted."""
    if not words:
        return _Found([])
    names = tuple(sorted(given))
    is_filtered = len(names) > 1
    most = max(shown, MOST_FOUND) + 1
    liked = {**given, **patterns(words), "most": most}
    if is_filtered and int(await ctx.db.scalar(_count(names, _FEW), **given)) <= _FEW:
        rows = await ctx.db.rows(_looked_through(names, len(words), is_down, False), **liked)
        return _Found([row[0] for row in rows], len(rows) < most)
    # First what has no number yet: if it gets one meanwhile it is found twice, and not left out.
    rows = await ctx.db.rows(_looked_through(names, len(words), is_down, True), **liked)
    new: list[str | int] = [row[0] for row in rows]
    old = await numbers_of(ctx, words, given, most=most - len(new) if is_down else most, is_down=is_down)
    some = [*new, *old] if is_down else [*old, *new]
    return _Found(some[:most], len(some) < most)


async def _records(ctx: Context, some: Sequence[str | int], is_down: bool) -> list[Submission]:
    """Without those that are gone since."""
    ids = [one for one in some if isinstance(one, str)]
    numbers = [one for one in some if isinstance(one, int)]
    found = await ctx.db.rows(_BY_IDS, ids=listed(ids)) if ids else []
    if numbers:
        padded = [*numbers, *[numbers[-1]] * (MAX_PER_PAGE - len(numbers))]
        found += await ctx.db.rows(_BY_NUMBERS, **{f"number_{at}": one for at, one in enumerate(padded)})
    each = {one.id: one for one in found}.values()
    return sorted(each, key=lambda one: (one.created_at, one.id), reverse=is_down)


def _given(form: Form, query: SubmissionFilter | SubmissionList) -> dict[str, Any]:
    given: dict[str, Any] = {"form_id": form.id}
    if query.status is not None:
        given["status"] = query.status
    for name in ("after", "before"):
        written = getattr(query, name)
        if written is not None:
            given[name] = read_instant(name, written.replace(" ", "+"))
    return given


async def _total(ctx: Context, form: Form, given: dict[str, Any]) -> tuple[int, bool]:
    if given.keys() <= {"form_id", "status"}:
        known = await totals(ctx, form.id)
        rest = known.submissions - known.processed - known.archived
        by_status = {"received": rest, "processed": known.processed, "archived": known.archived}
        return by_status[given["status"]] if "status" in given else known.submissions, True
    total = int(await ctx.db.scalar(_count(tuple(sorted(given))), **given))
    return total, total <= MOST_COUNTED


@functools.cache
def _looked_through(names: tuple[str, ...], words: int, is_down: bool, only_new: bool) -> Statement[Any]:
    """`only_new`: those that the index does not know of yet."""
    shown: Any = _submissions
    conditions = [*compared(names), *looks_like(words)]
    if only_new:
        # By themselves first: by their status or time, a database would go through all others as well.
        new = sa.select(shown.c.id, shown.c.created_at, shown.c.status)
        new = new.where(*compared(("form_id",)), *looks_like(words), _uncounted)
        shown = new.order_by(*_ordered(shown, is_down)).offset(0).subquery()
        conditions = compared([name for name in names if name != "form_id"], shown)
    source = sa.select(shown.c.id).where(*conditions).order_by(*_ordered(shown, is_down))
    return Statement(source.limit(sa.bindparam("most", type_=sa.BigInteger())), heavy=True)


def _ordered(shown: Any, is_down: bool) -> list[Any]:
    order: list[Any] = [shown.c.created_at, shown.c.id]
    return [column.desc() for column in order] if is_down else order


_BY_IDS = reading(Submission, sa.select(_submissions).where(one_of(_submissions.c.id, "ids")))
_BY_NUMBERS = reading(
    Submission,
    sa.select(_submissions).where(
        _submissions.c.number.in_(
            [sa.bindparam(f"number_{at}", type_=sa.BigInteger()) for at in range(MAX_PER_PAGE)]
        )
    ),
)


@functools.cache
def _page(names: tuple[str, ...], is_down: bool) -> Statement[Submission]:
    source = (
        sa.select(_submissions)
        .where(*compared(names))
        .order_by(*_ordered(_submissions, is_down))
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
        .offset(sa.bindparam("row_offset", type_=sa.BigInteger()))
    )
    return reading(Submission, source, heavy=True)


@functools.cache
def _count(names: tuple[str, ...], most: int = MOST_COUNTED) -> Statement[Any]:
    some = sa.select(_submissions.c.id).where(*compared(names)).limit(most + 1).subquery()
    return Statement(sa.select(sa.func.count()).select_from(some), heavy=True)


async def walk(ctx: Context, form: Form, query: SubmissionFilter) -> AsyncIterator[list[Submission]]:
    """Every submission that the filters match, oldest first, some at a time."""
    words = asked_words(query.search or "")
    if _is_search(query) and not words:
        return
    given = _given(form, query)
    statement = _next(tuple(sorted(given)), len(words))
    given |= patterns(words)
    last_at, last_id = "", ""
    while True:
        found = await ctx.db.rows(statement, last_at=last_at, last_id=last_id, **given)
        if found:
            yield found
            last_at, last_id = found[-1].created_at, found[-1].id
        if len(found) < _EXPORTED_AT_ONCE:
            return


@functools.cache
def _next(names: tuple[str, ...], words: int) -> Statement[Submission]:
    last = sa.tuple_(sa.bindparam("last_at", type_=sa.Text()), sa.bindparam("last_id", type_=sa.Text()))
    after_last = sa.tuple_(_submissions.c.created_at, _submissions.c.id) > last
    source = (
        sa.select(_submissions)
        .where(*compared(names), *looks_like(words), after_last)
        .order_by(_submissions.c.created_at, _submissions.c.id)
        .limit(_EXPORTED_AT_ONCE)
    )
    return reading(Submission, source, heavy=True)


_OF_USER: Statement[Any] = Statement(
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


# What other domains ask before they let go of something that a form points at.


async def find_forms_of_workflow(ctx: Context, workflow_id: str) -> list[Referrer]:
    return [Referrer(form.id, form.name) for form in await ctx.db.all(Form, workflow_id=workflow_id)]


async def let_go_of_workflow(ctx: Context, workflow_id: str) -> None:
    """The reference is soft: a form whose workflow is gone starts none."""


async def find_forms_of_table(ctx: Context, table_id: str) -> list[Referrer]:
    """Forms that store rows in a table or take options from it."""
    return [Referrer(form.id, form.name) for form in await ctx.db.all(Form) if table_id in _tables_of(form)]


def _tables_of(form: Form) -> set[str]:
    used = {field["data_source"]["table_id"] for field in form.fields if field.get("data_source")}
    return used | ({form.data_table_config.table_id} if form.data_table_config else set())


async def keep_table(ctx: Context, table_id: str) -> None:
    """A table that is referred to is not deleted, so there is nothing to let go of."""


async def find_submission_of_file(ctx: Context, file_id: str) -> list[Referrer]:
    upload = await ctx.db.get(FormUpload, file_id)
    if upload is None or upload.submission_id is None:
        return []
    return [Referrer(upload.submission_id, "submission")]


async def let_go_of_file(ctx: Context, file_id: str) -> None:
    upload = await ctx.db.get(FormUpload, file_id)
    if upload is not None:
        await ctx.db.delete(upload)
