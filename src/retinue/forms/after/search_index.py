"""Search of submissions by words, for forms of any size (ADR 16).

Words match by their beginning, ignoring case and accents, and every word must match. The job that counts
submissions also numbers and indexes them; submissions it has not reached yet are scanned. Indexed words carry
a tag of their form and of their block of submissions. A search therefore touches no other form, and a word
that all submissions contain yields the newest ones without reading the others.
"""

import functools
import hashlib
import re
import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from retinue.forms.models import SearchIndex, Submission, submission_words
from retinue.kit.context import Context
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.word_index import has_prefixes, prefix_query
from retinue.kit.json_types import JsonObject
from retinue.knowledge.terms import extract_terms

BLOCK_BITS = 15
MAX_INDEXED_WORDS = 2_000
"""The number of distinct words indexed per submission."""
MAX_QUERY_WORDS = 8
"""The number of words of a query that are used."""
_POSITION_BITS = 32
_ERASE_BATCH_SIZE = 500
# Below this, a read is faster than starting a thread.
_MAX_INLINE_ROWS = 2_000

_BETWEEN_WORDS = re.compile(r"[\W_]+")
_LETTERS = str.maketrans("0123456789", "ghijklmnop")

_submissions = Submission.__table__


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def index_text(text: str) -> str:
    """Return the words of a text, each after a blank. A code such as AX-44 is included in parts and whole."""
    words = list(extract_terms(_unaccented(text)))[:MAX_INDEXED_WORDS]
    return "".join(f" {word}" for word in words)


def query_words(text: str) -> list[str]:
    """Return the word beginnings to search for."""
    return list(extract_terms(_BETWEEN_WORDS.sub(" ", _unaccented(text))))[:MAX_QUERY_WORDS]


def like_parameters(words: Sequence[str]) -> dict[str, str]:
    """Return the parameters of `like_conditions`."""
    return {f"word_{at}": f"% {word}%" for at, word in enumerate(words)}


def like_conditions(words: int) -> list[Any]:
    """Return conditions that scan the submissions, for small numbers of them."""
    return [_submissions.c.searched.like(sa.bindparam(f"word_{at}", type_=sa.Text())) for at in range(words)]


# Executed without a tenant: the counting job writes the index for all tenants.

ADD_WORDS = Statement(
    sa.insert(submission_words).values(
        rowid=sa.bindparam("number", type_=sa.BigInteger()),
        tenant_id=sa.bindparam("owner", type_=sa.Text()),
        words=sa.bindparam("words", type_=submission_words.c.words.type),
    )
)
_SET_NUMBER = Statement(
    sa.update(_submissions)
    .where(
        _submissions.c.id == sa.bindparam("submission_id", type_=sa.Text()),
        _submissions.c.tenant_id == sa.bindparam("owner", type_=sa.Text()),
    )
    .values(
        is_uncounted=sa.false(),
        number=sa.bindparam("new_number", type_=sa.BigInteger()),
        searched=sa.bindparam("new_searched", type_=sa.Text()),
    )
)


async def index_submissions(system: SystemDb, submissions: Sequence[Submission]) -> None:
    """Index locked submissions; they count as counted afterwards."""
    by_form: defaultdict[tuple[str, str], list[Submission]] = defaultdict(list)
    for submission in submissions:
        by_form[submission.tenant_id, submission.form_id].append(submission)
    words: list[JsonObject] = []
    numbers: list[JsonObject] = []
    for (tenant_id, form_id), form_submissions in sorted(by_form.items(), key=lambda item: item[0]):
        locked = await _lock_index(system, tenant_id, form_id)
        for position, submission in enumerate(form_submissions, locked.indexed):
            number, searched = row_number(locked.row_key, position), index_text(submission.searched)
            tagged = tagged_words(form_id, position, searched)
            words.append({"number": number, "owner": tenant_id, "words": tagged})
            numbers.append(
                {
                    "submission_id": submission.id,
                    "owner": tenant_id,
                    "new_number": number,
                    "new_searched": searched,
                }
            )
        await system.update(locked, indexed=locked.indexed + len(form_submissions))
    await system.execute_many(ADD_WORDS, words)
    await system.execute_many(_SET_NUMBER, numbers)


async def _lock_index(system: SystemDb, tenant_id: str, form_id: str) -> SearchIndex:
    row_key = secrets.randbits(63 - _POSITION_BITS)
    await system.insert_missing(
        SearchIndex(id=form_id, tenant_id=tenant_id, form_id=form_id, row_key=row_key)
    )
    locked = await system.lock(SearchIndex, form_id)
    # None if the random row key is taken: the job is retried and draws another one.
    if locked is None:
        raise RuntimeError("this row key is taken")
    return locked


def row_number(row_key: int, position: int) -> int:
    return row_key << _POSITION_BITS | position


def tagged_words(form_id: str, position: int, searched: str) -> str:
    """Return the words of a submission as stored in the index."""
    tag = _tag(form_id, position >> BLOCK_BITS)
    return " ".join(tag + word for word in searched.split())


@functools.lru_cache(maxsize=4096)
def _tag(form_id: str, block: int) -> str:
    digest = hashlib.blake2b(f"{form_id}:{block}".encode(), digest_size=6)
    return digest.hexdigest().translate(_LETTERS)


# Queries


async def find_numbers(
    ctx: Context, words: Sequence[str], filters: JsonObject, *, most: int, descending: bool
) -> tuple[list[int], int]:
    """Return the numbers of matching submissions, up to `most`, and the total of all matches.

    `filters` are the form and further conditions, by the parameter names of `filter_conditions`.
    """
    form_id = filters["form_id"]
    others = {name: value for name, value in filters.items() if name != "form_id"}
    index = await ctx.db.get(SearchIndex, form_id)
    numbers: list[int] = []
    total = 0
    if index is None:
        return numbers, total
    names, heavy = tuple(sorted(others)), index.indexed > _MAX_INLINE_ROWS
    statement = _block_statement(ctx.db.dialect, names, descending, heavy)
    blocks = range((index.indexed - 1 >> BLOCK_BITS) + 1)
    for block in reversed(blocks) if descending else blocks:
        tag = _tag(form_id, block)
        parameters = {
            "beginnings": prefix_query(ctx.db.dialect, [tag + word for word in words]),
            "first": row_number(index.row_key, block << BLOCK_BITS),
            "until": row_number(index.row_key, block + 1 << BLOCK_BITS),
            **others,
        }
        remaining = most - len(numbers)
        rows = await ctx.db.rows(statement, most=remaining, **parameters) if remaining > 0 else []
        numbers += [row[0] for row in rows]
        is_whole = remaining > 0 and len(rows) < remaining
        count_statement = _block_count_statement(ctx.db.dialect, names, heavy)
        total += len(rows) if is_whole else int(await ctx.db.scalar(count_statement, **parameters))
    return numbers, total


@functools.cache
def _block_statement(
    dialect: str, conditions: tuple[str, ...], descending: bool, heavy: bool
) -> Statement[Any]:
    source, number = _matching(dialect, conditions)
    source = source.order_by(number.desc() if descending else number)
    return Statement(source.limit(sa.bindparam("most", type_=sa.BigInteger())), heavy=heavy)


@functools.cache
def _block_count_statement(dialect: str, conditions: tuple[str, ...], heavy: bool) -> Statement[Any]:
    source, _ = _matching(dialect, conditions)
    return Statement(sa.select(sa.func.count()).select_from(source.subquery()), heavy=heavy)


def _matching(dialect: str, conditions: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the query for matching numbers within a block, and its number column."""
    number: Any = submission_words.c.rowid
    source = sa.select(number).where(has_prefixes(submission_words, "beginnings"))
    if dialect == "postgresql":
        # A fence: planned without the words, PostgreSQL would otherwise scan all numbers of the block.
        number = source.offset(0).subquery().c.rowid
        source = sa.select(number)
    source = source.where(
        number >= sa.bindparam("first", type_=sa.BigInteger()),
        number < sa.bindparam("until", type_=sa.BigInteger()),
    )
    if conditions:
        # EXISTS is checked row by row; a join would start from the submissions.
        wanted = sa.select(_submissions.c.id).where(
            _submissions.c.number == number, *filter_conditions(conditions)
        )
        source = source.where(wanted.exists())
    return source, number


def filter_conditions(names: Iterable[str], source: Any = _submissions) -> list[Any]:
    """Return conditions on submissions for these parameter names."""
    conditions = {
        "form_id": lambda bound: source.c.form_id == bound,
        "status": lambda bound: source.c.status == bound,
        "after": lambda bound: source.c.created_at >= bound,
        "before": lambda bound: source.c.created_at < bound,
    }
    return [conditions[name](sa.bindparam(name, type_=sa.Text())) for name in names if name in conditions]


# Deletion

_DELETE_WORDS = Statement(
    sa.delete(submission_words).where(
        submission_words.c.rowid >= sa.bindparam("first", type_=sa.BigInteger()),
        submission_words.c.rowid < sa.bindparam("until", type_=sa.BigInteger()),
    )
)


async def remove_submission(ctx: Context, submission: Submission) -> None:
    """Remove a locked submission that is being deleted from the index."""
    if submission.number is not None:
        await ctx.db.execute(_DELETE_WORDS, first=submission.number, until=submission.number + 1)


async def erase_form_index(ctx: Context, form_id: str) -> None:
    """Remove a form's words from the index, in small batches."""
    async with ctx.unit() as unit:
        index = await unit.db.get(SearchIndex, form_id)
    if index is None:
        return
    for position in range(0, index.indexed, _ERASE_BATCH_SIZE):
        async with ctx.unit() as unit:
            first = row_number(index.row_key, position)
            await unit.db.execute(_DELETE_WORDS, first=first, until=first + _ERASE_BATCH_SIZE)
    async with ctx.unit() as unit:
        await unit.db.delete(index)
