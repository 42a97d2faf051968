"""The result of one check."""

from collections.abc import Iterator
from enum import StrEnum

import msgspec


class FindingStatus(StrEnum):
    ok = "ok"
    warn = "warn"
    fail = "fail"


class Finding(msgspec.Struct, frozen=True):
    """`detail` is what was found, without any secret; `hint` says what to do about it."""

    name: str
    status: FindingStatus
    detail: str
    hint: str = ""


Findings = Iterator[Finding]


def ok(name: str, detail: str) -> Finding:
    return Finding(name, FindingStatus.ok, detail)


def warn(name: str, detail: str, hint: str) -> Finding:
    return Finding(name, FindingStatus.warn, detail, hint)


def fail(name: str, detail: str, hint: str) -> Finding:
    return Finding(name, FindingStatus.fail, detail, hint)
