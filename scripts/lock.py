"""Writes the installed version of everything pyproject.toml needs, directly or not, into two files.

`requirements.lock` is what running Retinue with all extras takes, `requirements-dev.lock` what tests and
checks take besides.
Markers are judged for every supported Python on Linux, not only for the one that runs this: Debian 12's
3.11.2 needs packages that a newer 3.11 does not.
"""

import sys
import tomllib
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
RUN_LOCK = ROOT / "requirements.lock"
DEV_LOCK = ROOT / "requirements-dev.lock"
RUN_HEADER = "# Written by `make lock`. Everything to build and run retinue[all], on Python 3.11 and newer.\n"
DEV_HEADER = "# Written by `make lock`. What tests and checks need besides requirements.lock.\n"
PYTHONS = ("3.11.0", "3.11.99", "3.12.0", "3.13.0", "3.14.0")
MACHINES = ("x86_64", "aarch64")
OWN = "retinue"
# What has no build for the Python that usually writes the lock; the versions are raised by hand.
NOT_HERE = {"pyeryx": "0.11.0"}


def environments() -> list[dict[str, str]]:
    return [
        {
            "implementation_name": "cpython",
            "implementation_version": version,
            "os_name": "posix",
            "platform_machine": machine,
            "platform_python_implementation": "CPython",
            "platform_system": "Linux",
            "python_full_version": version,
            "python_version": version.rpartition(".")[0],
            "sys_platform": "linux",
        }
        for version in PYTHONS
        for machine in MACHINES
    ]


ENVIRONMENTS = environments()


ALWAYS = frozenset(range(len(ENVIRONMENTS)))


@dataclass
class Package:
    """One line of a lock: the version, and the environments and conditions it is needed under."""

    version: str
    environments: frozenset[int] = frozenset()
    conditions: set[str] = field(default_factory=set)

    @property
    def line(self) -> str:
        if self.environments == ALWAYS:
            return self.version
        return f"{self.version} ; {' or '.join(sorted(self.conditions))}"


def environments_of(
    requirement: Requirement, extras: frozenset[str], within: frozenset[int]
) -> frozenset[int]:
    """Return the environments that need it, with no extra or one of the chosen ones."""
    marker = requirement.marker
    if marker is None:
        return within
    return frozenset(
        number
        for number in within
        if any(marker.evaluate({**ENVIRONMENTS[number], "extra": extra}) for extra in ("", *extras))
    )


def declared() -> tuple[list[Requirement], list[Requirement]]:
    """Return what pyproject.toml names to build and run, and what it names to develop."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    extras = dict(project["optional-dependencies"])
    dev = extras.pop("dev")
    run = (
        *pyproject["build-system"]["requires"],
        *project["dependencies"],
        *(line for extra in extras.values() for line in extra),
    )
    return [Requirement(line) for line in run], [Requirement(line) for line in dev]


class Closure:
    """All that is needed, and the names that are needed but not installed."""

    def __init__(self) -> None:
        self.packages: dict[str, Package] = {}
        self.missing: set[str] = set()
        self._seen: set[tuple[str, frozenset[str], frozenset[int]]] = set()

    def add(self, roots: list[Requirement]) -> None:
        for root in roots:
            self._add(root, environments_of(root, frozenset(), ALWAYS), "")

    def _add(self, requirement: Requirement, environments: frozenset[int], condition: str) -> None:
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if not environments or name == OWN:
            return
        package = self.packages.setdefault(name, Package(self._version(name)))
        package.environments |= environments
        condition = str(requirement.marker or condition)
        package.conditions.add(condition)
        if (name, extras, environments) in self._seen or name in NOT_HERE or name in self.missing:
            return
        self._seen.add((name, extras, environments))
        for line in metadata.requires(name) or ():
            needed = Requirement(line)
            self._add(needed, environments_of(needed, extras, environments), condition)

    def _version(self, name: str) -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            if name not in NOT_HERE:
                self.missing.add(name)
            return NOT_HERE.get(name, "")


def write(lock: Path, header: str, packages: dict[str, Package]) -> None:
    lines = []
    for name, package in sorted(packages.items()):
        line = f"{name}=={package.line}"
        if environments_of(Requirement(line), frozenset(), ALWAYS) != package.environments:
            sys.exit(f"the conditions of {name} are too many for one marker: {line}")
        lines.append(line + "\n")
    lock.write_text(header + "".join(lines))
    sys.stdout.write(f"{lock.name}: {len(lines)} packages\n")


def main() -> None:
    run, dev = declared()
    closure = Closure()
    closure.add(run)
    to_run = dict(closure.packages)
    closure.add(dev)
    if closure.missing:
        names = " ".join(sorted(closure.missing))
        sys.exit(
            f"needed on a supported Python but not installed here: {names}\n"
            f"run `.venv/bin/pip install {names}`, then `make lock` again"
        )
    write(RUN_LOCK, RUN_HEADER, to_run)
    besides = {name: package for name, package in closure.packages.items() if name not in to_run}
    write(DEV_LOCK, DEV_HEADER, besides)


if __name__ == "__main__":
    main()
