"""Validation of time zones and language tags."""

import asyncio
import re
from functools import cache
from zoneinfo import available_timezones

# A well-formed RFC 5646 (BCP 47) tag. Irregular registered tags such as `i-klingon` are deprecated.
_LANGUAGE = re.compile(
    r"""
    (?: [a-z]{2,3} (?: - [a-z]{3} ){0,3} | [a-z]{4} | [a-z]{5,8} )  # language, with extended subtags
    (?: - [a-z]{4} )?                                               # script
    (?: - (?: [a-z]{2} | [0-9]{3} ) )?                              # region
    (?: - (?: [a-z0-9]{5,8} | [0-9][a-z0-9]{3} ) )*                 # variants
    (?: - [a-wy-z0-9] (?: - [a-z0-9]{2,8} )+ )*                     # extensions
    (?: - x (?: - [a-z0-9]{1,8} )+ )?                               # private use
    | x (?: - [a-z0-9]{1,8} )+
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


@cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones()) | {"UTC"}


async def is_timezone(name: str) -> bool:
    # The first call reads several hundred files.
    return name in await asyncio.to_thread(_timezones)


def is_language(tag: str) -> bool:
    return _LANGUAGE.fullmatch(tag) is not None
