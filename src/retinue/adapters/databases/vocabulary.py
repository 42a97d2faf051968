"""A second look at a checked statement, at its text alone: every word must be in the vocabulary.

All names are quoted by now, so what is left are keywords, functions and types. Whatever the tree was taken
for, a text without words like OUTFILE, PROGRAM or PRAGMA cannot do what they do.
"""

import re

from retinue.adapters.databases.connection import DbType
from retinue.adapters.databases.errors import QueryNotAllowed
from retinue.adapters.databases.functions import FUNCTIONS

_KEYWORDS = """
all and any array as asc between bigint binary boolean both by case cast char character collate conflict
constraint cross cube current current_date current_time current_timestamp date datetime decimal default
delete desc distinct do double else end escape except exclude exists extract false fetch filter first float
following for from full group grouping groups having if ignore in inner insert int integer intersect into is
join last lateral leading left like limit localtime localtimestamp materialized natural next not nothing
null nulls numeric offset on only or order ordinality outer over overlay partition placing position
preceding precision range real recursive respect returning right rollup row rows select set sets smallint
some substring text then ties time timestamp tinyint trailing trim true unbounded union update using values
varchar when where window with within
"""
_UNITS = """
century day day_hour day_microsecond day_minute day_second dayofweek dayofyear decade dow doy epoch hour
hour_microsecond hour_minute hour_second isodow isoyear julian microsecond microseconds millennium
millisecond milliseconds minute minute_microsecond minute_second month quarter second second_microsecond
timezone week year year_month
"""
_OWN: dict[DbType, str] = {
    "postgresql": """
        at blob bpchar bytea daterange days hours ilike inet int4range int8range interval isnull json
        jsonb mins money months nchar notnull numrange secs similar symmetric timestamptz timetz to
        tsrange tstzrange unnest uuid varbinary vector weeks years zone
        """,
    "mysql": """
        against b blob boolean div dual duplicate expansion interval json key language match mediumint
        member mode of query regexp separator signed unsigned x xor
        """,
    "sqlite": "blob glob indexed match regexp x",
}
WORDS: dict[DbType, frozenset[str]] = {
    db_type: frozenset(f"{_KEYWORDS} {_UNITS} {own}".split()) | FUNCTIONS[db_type]
    for db_type, own in _OWN.items()
}

_STRING = r"'(?:[^'\\]|''|\\\\)*'"
_PLAIN_STRING = r"'(?:[^']|'')*'"
_REST = r"\s+|\0[0-9]+\0|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
_WORD = r"(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
_OPERATORS: dict[DbType, str] = {
    "postgresql": r"[-+*/%<>=|&^~#@?!,.:()\[\]]",
    "mysql": r"[-+*/%<>=|&^~!,.()]",
    "sqlite": r"[-+*/%<>=|&~!,.()]",
}
_QUOTED_NAMES: dict[DbType, str] = {
    "postgresql": '"(?:[^"]|"")*"',
    "mysql": "`(?:[^`]|``)*`",
    "sqlite": "`(?:[^`]|``)*`",
}
_TOKENS = {
    db_type: re.compile(
        "|".join(
            [
                _STRING if db_type == "mysql" else _PLAIN_STRING,
                _QUOTED_NAMES[db_type],
                _REST,
                _WORD,
                f"(?P<operator>{operators})",
            ]
        ),
        re.ASCII,
    )
    for db_type, operators in _OPERATORS.items()
}
_COMMENTS = re.compile(r"--|/\*|\*/|//")
# What follows these is a name that cannot be quoted.
_BEFORE_A_NAME = {"collate", "character set"}


def check_text(text: str, db_type: DbType) -> None:
    """Refuse a text with an unknown word, a comment, or anything else that is not expected between quotes."""
    place, last, adjacent = 0, "", ""
    while place < len(text):
        found = _TOKENS[db_type].match(text, place)
        if found is None:
            raise QueryNotAllowed("The statement has a part that could not be understood.")
        if found["word"]:
            _check_word(found["word"].lower(), last, db_type)
        adjacent = adjacent + found["operator"] if found["operator"] else ""
        if _COMMENTS.search(adjacent):
            raise QueryNotAllowed("The statement has a part that could not be understood.")
        if not found[0].isspace():
            token = found[0].lower()
            last = "character set" if (last, token) == ("character", "set") else token
        place = found.end()


def _check_word(word: str, last: str, db_type: DbType) -> None:
    is_known = word in WORDS[db_type] or last in _BEFORE_A_NAME
    is_misplaced = (word == "into" and last not in {"insert", "ignore"}) or (last, word) == ("for", "update")
    if not is_known or is_misplaced or last == ".":
        raise QueryNotAllowed(f"The statement may not use the word {word[:60]} here.")
