"""Prints what the base and each extra take on disk, from the packages that this environment holds.

`.venv/bin/python scripts/installed_sizes.py`: packages and megabytes without .pyc files; an extra counts what
it adds to the base.
"""

import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OWN = "retinue"
NOT_EXTRAS = {"dev"}


def packages(extras: Iterable[str] = ()) -> set[str]:
    """Return the names of everything that Retinue with these extras needs here, Retinue included."""
    found: set[tuple[str, frozenset[str]]] = set()
    due = [Requirement(f"{OWN}[{','.join(extras)}]")]
    while due:
        requirement = due.pop()
        wanted = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if wanted not in found:
            found.add(wanted)
            due += [
                needed for line in _requires(wanted[0]) if _is_needed(needed := Requirement(line), wanted[1])
            ]
    return {name for name, _ in found}


def _requires(name: str) -> list[str]:
    return metadata.requires(name) or []


def _is_needed(requirement: Requirement, extras: frozenset[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


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
    base = packages()
    sys.stdout.write(f"{'base':<10} {len(base):>3} packages {megabytes(base):>6.0f} MB\n")
    for extra in extras():
        added = packages([extra]) - base
        sys.stdout.write(f"{extra:<10} {len(added):>3} packages {megabytes(added):>6.0f} MB more\n")


if __name__ == "__main__":
    main()
