"""Writes requirements.lock: the installed version of everything pyproject.toml needs, directly or not.

Markers are judged for every supported Python on Linux, not only for the one that runs this: Debian 12's
3.11.2 needs packages that a newer 3.11 does not.
"""

import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEADER = "# Written by `make lock`. Everything to run, test and build Retinue, on Python 3.11 and newer.\n"
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


def applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    """Whether some supported environment needs it, with no extra or one of the chosen ones."""
    marker = requirement.marker
    if marker is None:
        return True
    return any(
        marker.evaluate({**environment, "extra": extra})
        for environment in ENVIRONMENTS
        for extra in ("", *extras)
    )


def declared() -> list[Requirement]:
    """What pyproject.toml names: to build, to run and to develop."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    lines = (
        *pyproject["build-system"]["requires"],
        *project["dependencies"],
        *project["optional-dependencies"]["dev"],
    )
    return [Requirement(line) for line in lines]


def needed_by(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    for line in metadata.requires(name) or ():
        requirement = Requirement(line)
        if applies(requirement, extras):
            yield requirement


def closure(roots: list[Requirement]) -> tuple[dict[str, str], list[str]]:
    """Name and version of all that is needed, and the names that are needed but not installed."""
    versions: dict[str, str] = {}
    missing: set[str] = set()
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = list(roots)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        wanted = (name, frozenset(requirement.extras))
        if wanted in seen or name == OWN:
            continue
        seen.add(wanted)
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            if name in NOT_HERE and requirement.marker:
                versions[name] = f"{NOT_HERE[name]} ; {requirement.marker}"
            else:
                missing.add(name)
        else:
            waiting.extend(needed_by(*wanted))
    return versions, sorted(missing)


def main() -> None:
    versions, missing = closure(declared())
    if missing:
        names = " ".join(missing)
        sys.exit(
            f"needed on a supported Python but not installed here: {names}\n"
            f"run `.venv/bin/pip install {names}`, then `make lock` again"
        )
    lines = [f"{name}=={version}\n" for name, version in sorted(versions.items())]
    LOCK.write_text(HEADER + "".join(lines))
    sys.stdout.write(f"{LOCK.name}: {len(lines)} packages\n")


if __name__ == "__main__":
    main()
