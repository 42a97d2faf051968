"""Finding submissions by their words, however many a form has.

Words are compared by their beginnings, without regard to case and accents, and every word must be there. The
job that counts submissions also gives them numbers and puts their words into an index; what it has not come
to yet is looked through. In the index, words stand behind a tag of their form and of the block of submissions
they belong to. So a search touches nothing of other forms, and whoever asks for a word that all submissions
have gets the newest of them without the database going through the others.
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
from retinue.kit.db.word_index import beginnings, has_beginnings
from retinue.knowledge.terms import terms_of

BLOCK_BITS = 15
MOST_WORDS = 2_000
"""How many different words of a submission can be found."""
MOST_ASKED = 8
"""How many words of a question count."""
_POSITION_BITS = 32
_ERASED_AT_ONCE = 500
# Below this a read takes less time than a thread takes to start.
_FEW = 2_000

_BETWEEN_WORDS = re.compile(r"[\W_]+")
_LETTERS = str.maketrans("0123456789", "ghijklmnop")

_submissions = Submission.__table__


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))


def spaced_words(text: str) -> str:
    """The words of a text, each behind a blank; a code such as AX-44 is there in parts and as one."""
    found = list(terms_of(_unaccented(text)))[:MOST_WORDS]
    return "".join(f" {word}" for word in found)


def asked_words(text: str) -> list[str]:
    """What is searched for: the beginnings of words."""
    return list(terms_of(_BETWEEN_WORDS.sub(" ", _unaccented(text))))[:MOST_ASKED]


def patterns(words: Sequence[str]) -> dict[str, str]:
    """The parameters of `looks_like`."""
    return {f"word_{at}": f"% {word}%" for at, word in enumerate(words)}


def looks_like(words: int) -> list[Any]:
    """Conditions on submissions themselves, where there are few of them to look through."""
    return [_submissions.c.searched.like(sa.bindparam(f"word_{at}", type_=sa.Text())) for at in range(words)]


# The index is written where submissions of all tenants are counted.

ADD_WORDS: Statement[Any] = Statement(
    sa.insert(submission_words).values(
        rowid=sa.bindparam("number", type_=sa.BigInteger()),
        tenant_id=sa.bindparam("owner", type_=sa.Text()),
        words=sa.bindparam("words", type_=submission_words.c.words.type),
    )
)
_NUMBER: Statement[Any] = Statement(
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


async def index(system: SystemDb, some: Sequence[Submission]) -> None:
    """Put submissions, whose rows are locked, into the index; they count as counted from here on."""
    by_form: defaultdict[tuple[str, str], list[Submission]] = defaultdict(list)
    for one in some:
        by_form[one.tenant_id, one.form_id].append(one)
    words: list[dict[str, Any]] = []
    numbers: list[dict[str, Any]] = []
    for (tenant_id, form_id), theirs in sorted(by_form.items(), key=lambda item: item[0]):
        held = await _hold(system, tenant_id, form_id)
        for position, one in enumerate(theirs, held.indexed):
            number, searched = number_of(held.row_key, position), spaced_words(one.searched)
            tagged = tagged_words(form_id, position, searched)
            words.append({"number": number, "owner": tenant_id, "words": tagged})
            numbers.append(
                {
                    "submission_id": one.id,
                    "owner": tenant_id,
                    "new_number": number,
                    "new_searched": searched,
                }
            )
        await system.update(held, indexed=held.indexed + len(theirs))
    await system.execute_many(ADD_WORDS, words)
    await system.execute_many(_NUMBER, numbers)


async def _hold(system: SystemDb, tenant_id: str, form_id: str) -> SearchIndex:
    row_key = secrets.randbits(63 - _POSITION_BITS)
    await system.insert_missing(
        SearchIndex(id=form_id, tenant_id=tenant_id, form_id=form_id, row_key=row_key)
    )
    held = await system.lock(SearchIndex, form_id)
    # None if the number by chance was another's: the job is run again, and draws another one.
    if held is None:
        raise RuntimeError("this row key is taken")
    return held


def number_of(row_key: int, position: int) -> int:
    return row_key << _POSITION_BITS | position


def tagged_words(form_id: str, position: int, searched: str) -> str:
    """The words of a submission as a row of the index."""
    tag = _tag(form_id, position >> BLOCK_BITS)
    return " ".join(tag + word for word in searched.split())


@functools.lru_cache(maxsize=4096)
def _tag(form_id: str, block: int) -> str:
    digest = hashlib.blake2b(f"{form_id}:{block}".encode(), digest_size=6)
    return digest.hexdigest().translate(_LETTERS)


# Asking.


async def numbers_of(
    ctx: Context, words: Sequence[str], given: dict[str, Any], *, most: int, is_down: bool
) -> list[int]:
    """The numbers of submissions with these words, up to `most`, the newest or the oldest first.

    `given` are the form and whatever else is asked of submissions, by the names of `compared`.
    """
    form_id = given["form_id"]
    others = {name: value for name, value in given.items() if name != "form_id"}
    known = await ctx.db.get(SearchIndex, form_id)
    found: list[int] = []
    if known is None:
        return found
    statement = _in_block(ctx.db.dialect, tuple(sorted(others)), is_down, known.indexed > _FEW)
    blocks = range((known.indexed - 1 >> BLOCK_BITS) + 1)
    for block in reversed(blocks) if is_down else blocks:
        tag = _tag(form_id, block)
        rows = await ctx.db.rows(
            statement,
            beginnings=beginnings(ctx.db.dialect, [tag + word for word in words]),
            first=number_of(known.row_key, block << BLOCK_BITS),
            until=number_of(known.row_key, block + 1 << BLOCK_BITS),
            most=most - len(found),
            **others,
        )
        found += [row[0] for row in rows]
        if len(found) >= most:
            break
    return found


@functools.cache
def _in_block(dialect: str, conditions: tuple[str, ...], is_down: bool, heavy: bool) -> Statement[Any]:
    number: Any = submission_words.c.rowid
    source = sa.select(number).where(has_beginnings(submission_words, "beginnings"))
    if dialect == "postgresql":
        # By the words and nothing else: planned without knowing them, it would go through all numbers.
        number = source.offset(0).subquery().c.rowid
        source = sa.select(number)
    source = source.where(
        number >= sa.bindparam("first", type_=sa.BigInteger()),
        number < sa.bindparam("until", type_=sa.BigInteger()),
    )
    if conditions:
        # Row by row: a join would begin with the submissions.
        wanted = sa.select(_submissions.c.id).where(_submissions.c.number == number, *compared(conditions))
        source = source.where(wanted.exists())
    source = source.order_by(number.desc() if is_down else number)
    return Statement(source.limit(sa.bindparam("most", type_=sa.BigInteger())), heavy=heavy)


def compared(names: Iterable[str], shown: Any = _submissions) -> list[Any]:
    """Conditions on submissions, by the names of their parameters."""
    known = {
        "form_id": lambda bound: shown.c.form_id == bound,
        "status": lambda bound: shown.c.status == bound,
        "after": lambda bound: shown.c.created_at >= bound,
        "before": lambda bound: shown.c.created_at < bound,
    }
    return [known[name](sa.bindparam(name, type_=sa.Text())) for name in names if name in known]


# Letting go.

_FORGET: Statement[Any] = Statement(
    sa.delete(submission_words).where(
        submission_words.c.rowid >= sa.bindparam("first", type_=sa.BigInteger()),
        submission_words.c.rowid < sa.bindparam("until", type_=sa.BigInteger()),
    )
)


async def forget(ctx: Context, submission: Submission) -> None:
    """A submission whose row is locked goes."""
    if submission.number is not None:
        await ctx.db.execute(_FORGET, first=submission.number, until=submission.number + 1)


async def erase(ctx: Context, form_id: str) -> None:
    """What the index has of a form whose submissions are gone, in small steps."""
    async with ctx.unit() as unit:
        known = await unit.db.get(SearchIndex, form_id)
    if known is None:
        return
    for position in range(0, known.indexed, _ERASED_AT_ONCE):
        async with ctx.unit() as unit:
            first = number_of(known.row_key, position)
            await unit.db.execute(_FORGET, first=first, until=first + _ERASED_AT_ONCE)
    async with ctx.unit() as unit:
        await unit.db.delete(known)
