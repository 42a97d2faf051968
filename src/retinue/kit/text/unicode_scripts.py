"""The scripts of characters, used to detect look-alike text as described in UTS 39."""

import unicodedata
from bisect import bisect_right
from functools import cache
from importlib import resources
from typing import NamedTuple

# UTS 39, section 5.1: writing systems that use several scripts together.
_WITH_WRITING_SYSTEMS = {
    "Hani": {"Hanb", "Jpan", "Kore"},
    "Hira": {"Jpan"},
    "Kana": {"Jpan"},
    "Hang": {"Kore"},
    "Bopo": {"Hanb"},
}


class _Table(NamedTuple):
    firsts: list[int]
    lasts: list[int]
    scripts: list[frozenset[str] | None]


@cache
def _table() -> _Table:
    """Load the table of ranges; None stands for characters used by every script."""
    text = resources.files("retinue.kit").joinpath("unicode_scripts.txt").read_text("utf-8")
    table = _Table([], [], [])
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        first, last, *scripts = line.split()
        table.firsts.append(int(first, 16))
        table.lasts.append(int(last, 16))
        table.scripts.append(None if scripts == ["*"] else _augmented(scripts))
    return table


def _augmented(scripts: list[str]) -> frozenset[str]:
    more = (_WITH_WRITING_SYSTEMS.get(script, set()) for script in scripts)
    return frozenset(scripts).union(*more)


def _scripts_of(character: str) -> frozenset[str] | None:
    table, code = _table(), ord(character)
    position = bisect_right(table.firsts, code) - 1
    if position < 0 or code > table.lasts[position]:
        return frozenset()
    return table.scripts[position]


def is_single_script(text: str) -> bool:
    """Return whether all characters belong to one script or one writing system, such as Japanese."""
    if text.isascii():
        return True
    shared: frozenset[str] | None = None
    for character in text:
        scripts = _scripts_of(character)
        if scripts is not None:
            shared = scripts if shared is None else shared & scripts
    return shared is None or bool(shared)


def has_mixed_digits(text: str) -> bool:
    """Return whether the text mixes decimal digits of several numbering systems (UTS 39, section 5.3)."""
    zeros = {ord(digit) - unicodedata.decimal(digit) for digit in text if digit.isdecimal()}
    return len(zeros) > 1
