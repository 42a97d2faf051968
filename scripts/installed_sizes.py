"""Prints what the base and each extra take on disk, from the packages that this environment holds.

`.venv/bin/python scripts/installed_sizes.py`: packages and megabytes without .pyc files; an extra counts what
it adds to the base. It needs nothing but Retinue itself; an extra that is not installed is said to be absent.
"""

import ast
import operator
import os
import platform
import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

OWN = "retinue"
NOT_EXTRAS = {"dev"}
_LINE = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?[^;]*(?:;(.*))?", re.DOTALL)
_VERSIONS = {"python_version", "python_full_version", "implementation_version"}
_OPERATORS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Needed(NamedTuple):
    """A package that another one requires, with the extras it wants of it and when."""

    name: str
    extras: frozenset[str]
    marker: str


def parse(line: str) -> Needed:
    """Return a line of `Requires-Dist`; its versions do not matter for what is installed."""
    found = _LINE.fullmatch(line)
    assert found is not None, line
    extras = frozenset(canonical(extra) for extra in (found[2] or "").split(",") if extra.strip())
    return Needed(canonical(found[1]), extras, (found[3] or "").strip())


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def is_true(marker: str, extra: str) -> bool:
    """Evaluate an environment marker: its grammar is that of a Python expression on a few names."""
    version = platform.python_version()
    facts = {
        "python_version": ".".join(version.split(".")[:2]),
        "python_full_version": version,
        "implementation_version": version,
        "implementation_name": sys.implementation.name,
        "platform_python_implementation": platform.python_implementation(),
        "os_name": os.name,
        "sys_platform": sys.platform,
        "platform_system": platform.system(),
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_version": platform.version(),
        "extra": extra,
    }
    return _evaluate(ast.parse(marker, mode="eval").body, facts)


def _evaluate(node: ast.expr, facts: dict[str, str]) -> bool:
    if isinstance(node, ast.BoolOp):
        combine = all if isinstance(node.op, ast.And) else any
        return combine(_evaluate(value, facts) for value in node.values)
    assert isinstance(node, ast.Compare)
    assert len(node.ops) == 1, "markers compare two things"
    sides = (node.left, node.comparators[0])
    one, two = (facts[side.id] if isinstance(side, ast.Name) else ast.literal_eval(side) for side in sides)
    kind = node.ops[0]
    if isinstance(kind, ast.In | ast.NotIn):
        return (one in two) is isinstance(kind, ast.In)
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    if names & _VERSIONS:
        return bool(_OPERATORS[type(kind)](_numbers(one), _numbers(two)))
    if "extra" in names:
        one, two = canonical(one), canonical(two)
    return bool(_OPERATORS[type(kind)](one, two))


def _numbers(version: str) -> list[int]:
    # 3.11 and 3.11.0 are the same.
    return [int(number) for number in re.findall(r"\d+", re.sub(r"(\.0)+$", "", version))]


def packages(extras: Iterable[str] = ()) -> set[str]:
    """Return the names of everything that Retinue with these extras needs here, Retinue included."""
    found: set[tuple[str, frozenset[str]]] = set()
    due = [Needed(OWN, frozenset(extras), "")]
    while due:
        name, wanted, _ = due.pop()
        if (name, wanted) not in found:
            found.add((name, wanted))
            due += [needed for line in _requires(name) if _is_needed(needed := parse(line), wanted)]
    return {name for name, _ in found}


def _requires(name: str) -> list[str]:
    """Return what a package requires; nothing if it is not installed itself."""
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []


def _is_needed(needed: Needed, extras: frozenset[str]) -> bool:
    return not needed.marker or any(is_true(needed.marker, extra) for extra in ("", *extras))


def is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def megabytes(names: Iterable[str]) -> float:
    """Return the size of the installed files, without what Python compiles from them."""
    total = 0
    for name in names:
        for file in metadata.distribution(name).files or ():
            path = Path(str(file.locate()))
            if path.suffix != ".pyc" and path.is_file():
                total += path.stat().st_size
    return total / 1e6


def extras() -> list[str]:
    named = metadata.metadata(OWN).get_all("Provides-Extra") or []
    return sorted(name for name in named if name not in NOT_EXTRAS)


def main() -> None:
    if not is_installed(OWN):
        sys.exit(f"{OWN} is not installed in {sys.prefix}")
    base = packages()
    sys.stdout.write(f"{'base':<10} {len(base):>3} packages {megabytes(base):>6.0f} MB\n")
    for extra in extras():
        added = packages([extra]) - base
        absent = sorted(name for name in added if not is_installed(name))
        if absent:
            sys.stdout.write(f"{extra:<10} not installed: {', '.join(absent)}\n")
        else:
            sys.stdout.write(f"{extra:<10} {len(added):>3} packages {megabytes(added):>6.0f} MB more\n")


if __name__ == "__main__":
    main()
