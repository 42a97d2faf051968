"""A second check of a statement, on its text alone: every word must be in the vocabulary.

All names are quoted by now, so the remaining words are keywords, functions and types. However the tree was
parsed, a text without words like OUTFILE, PROGRAM or PRAGMA cannot do what they do.
"""

import re

from retinue.adapters.databases.connection import DbType
from retinue.adapters.databases.errors import QueryNotAllowed
from retinue.adapters.databases.sql.functions import ALLOWED_FUNCTIONS

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
_DIALECT_WORDS: dict[DbType, str] = {
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
ALLOWED_WORDS: dict[DbType, frozenset[str]] = {
    db_type: frozenset(f"{_KEYWORDS} {_UNITS} {words}".split()) | ALLOWED_FUNCTIONS[db_type]
    for db_type, words in _DIALECT_WORDS.items()
}

_STRING = r"'(?:[^'\\]|''|\\\\)*'"
_PLAIN_STRING = r"'(?:[^']|'')*'"
_BLANKS_AND_NUMBERS = r"\s+|\0[0-9]+\0|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
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
                _BLANKS_AND_NUMBERS,
                _WORD,
                f"(?P<operator>{operators})",
            ]
        ),
        re.ASCII,
    )
    for db_type, operators in _OPERATORS.items()
}
_COMMENTS = re.compile(r"--|/\*|\*/|//")
# An unquotable name follows these words.
_WORDS_BEFORE_NAMES = {"collate", "character set"}


def check_text(text: str, db_type: DbType) -> None:
    """Reject a text with an unknown word, a comment, or anything unexpected outside of quotes."""
    position, last, adjacent = 0, "", ""
    while position < len(text):
        match = _TOKENS[db_type].match(text, position)
        if match is None:
            raise QueryNotAllowed("The statement contains a part that could not be parsed.")
        if match["word"]:
            _check_word(match["word"].lower(), last, db_type)
        adjacent = adjacent + match["operator"] if match["operator"] else ""
        if _COMMENTS.search(adjacent):
            raise QueryNotAllowed("The statement contains a part that could not be parsed.")
        if not match[0].isspace():
            token = match[0].lower()
            last = "character set" if (last, token) == ("character", "set") else token
        position = match.end()


def _check_word(word: str, last: str, db_type: DbType) -> None:
    is_known = word in ALLOWED_WORDS[db_type] or last in _WORDS_BEFORE_NAMES
    is_misplaced = (word == "into" and last not in {"insert", "ignore"}) or (last, word) == ("for", "update")
    if not is_known or is_misplaced or last == ".":
        raise QueryNotAllowed(f"The statement may not use the word {word[:60]} here.")
