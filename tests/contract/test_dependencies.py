"""pyproject.toml names what the code imports and nothing else, and the locks pin all of it once."""

import configparser
import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from retinue.domains import DOMAINS
from retinue.kit.extras import EXTRAS
from scripts.sbom import console_packages
from tests.contract.dependencies import (
    NEEDED_WITHOUT_IMPORT,
    ROOT,
    TOOLS,
    extras,
    find_imports,
    find_undeclared,
    find_unused,
    packages_of,
    parse_requirements,
    project,
    read_lock,
)

PYTHONS = ("3.11", "3.12", "3.13")
BASE = parse_requirements(project()["dependencies"])
RUN = BASE | parse_requirements(line for lines in extras().values() for line in lines)
DEV = parse_requirements(project()["optional-dependencies"]["dev"])
RUN_LOCK, DEV_LOCK = read_lock("requirements.lock"), read_lock("requirements-dev.lock")


def test_what_retinue_imports_is_declared():
    assert find_undeclared(find_imports(["src"]), RUN) == []


def test_what_is_declared_is_imported():
    assert find_unused(find_imports(["src"]), RUN, NEEDED_WITHOUT_IMPORT) == []


def test_what_tests_and_scripts_import_is_declared_and_the_rest_are_tools():
    modules = find_imports(["tests", "scripts", "bench"])
    assert find_undeclared(modules, RUN | DEV) == []
    assert find_unused(modules, DEV, TOOLS) == []


PRIVATE_PARTS_USED = {
    "aiomysql",
    "asyncpg",
    "faster-whisper",
    "pypdfium2",
    "quickjs-rs",
    "sqlalchemy",
    "sqlglot",
    "uvicorn",
}
_PRIVATE_IMPORT = re.compile(r"^\s*(?:from|import) (\w+)[\w.]*(?:\._[a-z]\w*|\.\w*_impl\b)", re.MULTILINE)


def test_a_library_whose_private_parts_we_use_is_capped():
    """Any release may change them."""
    sources = (path.read_text() for path in (ROOT / "src").rglob("*.py"))
    imported = {name for source in sources for name in _PRIVATE_IMPORT.findall(source)} - {"retinue"}
    assert imported <= PRIVATE_PARTS_USED
    for name in PRIVATE_PARTS_USED:
        assert any(one.operator == "<" for one in RUN[name].specifier), name


def test_nothing_is_declared_twice():
    assert RUN.keys() & DEV.keys() == set()
    named = [*BASE, *(name for lines in extras().values() for name in parse_requirements(lines))]
    assert sorted(named) == sorted(RUN)


def test_the_extras_are_those_that_the_code_asks_for():
    """A missing package is reported with the extra that brings it, and `all` brings them all."""
    assert EXTRAS.keys() == extras().keys()
    for name, lines in extras().items():
        modules = packages_of(EXTRAS[name].modules)
        assert {package for packages in modules.values() for package in packages} == parse_requirements(
            lines
        ).keys()
    [everything] = project()["optional-dependencies"]["all"]
    assert parse_requirements([everything])["retinue"].extras == extras().keys()


@pytest.mark.parametrize(
    "code",
    [
        "import hypothesis",
        "def late():\n    from hypothesis import given",
        "import hypothesis.strategies as st",
    ],
)
def test_an_import_that_is_not_declared_is_found(tmp_path: Path, code: str):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module.py").write_text(
        f"import json\nfrom . import sibling\nimport retinue\n{code}\n"
    )
    modules = find_imports(["src"], tmp_path)
    assert modules == {"hypothesis": "src/module.py"}
    assert find_undeclared(modules, RUN) == [
        "src/module.py imports hypothesis, but pyproject.toml lacks hypothesis"
    ]
    assert find_undeclared(modules, DEV) == []


def test_a_dependency_that_nothing_imports_is_found():
    assert find_unused({"msgspec"}, ["msgspec", "safetensors"], {}) == [
        "safetensors is declared, but nothing imports it"
    ]
    assert find_unused({"msgspec"}, ["msgspec"], {"msgspec": "?", "gone": "?"}) == [
        "gone needs no excuse: it is imported or not declared",
        "msgspec needs no excuse: it is imported or not declared",
    ]


def test_the_locks_pin_every_package_once():
    assert RUN_LOCK.keys() & DEV_LOCK.keys() == set()
    for lock in (RUN_LOCK, DEV_LOCK):
        for name, pin in lock.items():
            assert re.fullmatch(r"==[0-9][0-9a-z.]*", str(pin.specifier)), name
            assert pin.url is None, name


@pytest.mark.parametrize("python", PYTHONS)
def test_the_locks_have_what_is_declared_for_every_python(python: str):
    """Each declared requirement that applies to a Python is pinned for it, to a version that it allows."""
    environment = {"python_version": python, "python_full_version": f"{python}.2"}
    for names, lock in ((RUN, RUN_LOCK), (DEV, RUN_LOCK | DEV_LOCK)):
        for name, requirement in names.items():
            pin = lock.get(name)
            is_needed = requirement.marker is None or requirement.marker.evaluate(environment)
            assert pin is not None, name
            assert (pin.marker is None or pin.marker.evaluate(environment)) == is_needed, name
            [version] = (one.version for one in pin.specifier)
            assert requirement.specifier.contains(version), f"{name} {version}"


def test_the_run_time_lock_has_no_tool_of_development():
    assert RUN_LOCK.keys() & DEV.keys() <= {"packaging", "pydantic"}
    assert RUN_LOCK.keys() & TOOLS.keys() == set()


def test_the_locks_hold_names_and_versions_only():
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_text()
        assert not re.search(r"://|^-|file:|/", text, re.MULTILINE), lock


def test_the_bill_of_materials_lists_what_is_pinned():
    """It is a file of `make lock`; the JavaScript packages of the console stand in it too."""
    document = json.loads((ROOT / "packaging/retinue.cdx.json").read_text())
    listed = {component["bom-ref"]: component for component in document["components"]}
    console = {component["purl"] for component in console_packages()}
    python = {
        (canonicalize_name(component["name"]), component["version"])
        for component in document["components"]
        if component["bom-ref"] not in console
    }
    assert console <= listed.keys()
    assert python == {(name, str(pin.specifier).removeprefix("==")) for name, pin in RUN_LOCK.items()}
    assert "timestamp" not in document["metadata"]


def test_the_wheel_carries_every_file_that_is_not_python():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    package = ROOT / "src/retinue"
    carried = {
        path
        for pattern in settings["package-data"]["retinue"]
        for path in package.glob(pattern)
        if path.is_file()
    }
    others = {
        path
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"} and "egg-info" not in str(path)
    }
    assert others - carried == set()


def test_the_domains_stand_in_one_order() -> None:
    """`.importlinter` has it from above, `domains.py` from below, and the architecture names it in rows."""
    linter = configparser.ConfigParser()
    linter.read(ROOT / ".importlinter")
    layers = linter["importlinter:contract:order"]["layers"].split()
    enforced = layers[layers.index("domains") + 1 : layers.index("adapters")][::-1]
    listed = [manifest.name for manifest in DOMAINS if manifest.name not in {"kit", "mail"}]
    table = (
        (ROOT / "docs" / "architecture.md").read_text().partition("| Neighbourhood |")[2].partition("\n\n")[0]
    )
    assert enforced == listed == re.findall(r"`(\w+)`", table)
