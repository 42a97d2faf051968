"""Counts of how the code names and describes things; the tests keep them low."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.contract.parsed_code import parse, walk_statements

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
# Words of the field that are nouns although they end in -ing.
PARTICIPLE_MODULES = {
    "adapters/aws_signing",
    "adapters/documents/child/chunking",
    "adapters/documents/child/text_encoding",
    "chat/replies/blocking",
    "chat/replies/streaming",
    "chat/turn/billing",
    "events/signing",
    "forms/after/processing",
    "forms/conversation/streaming",
    "kit/egress/content_encoding",
    "kit/events/routing",
    "kit/http/routing",
    "kit/logging",
    "kit/webhook_signing",
    "knowledge/embedding",
    "knowledge/ranking",
    "tables/transfers/import_mapping",
    "wiring",
}
PARTICIPLE_TESTS = {"aws_signing", "routing", "signup_warning", "training", "vault_signing"}
MAXIMUM = re.compile(r"_?(MOST|LONGEST|LARGEST|DEEPEST|BIGGEST|MANY|ENOUGH|FEWEST)(_|$)")


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of src, parsed, by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name] = parse(path.read_text())
    return found


def participle_modules() -> set[str]:
    places = (name.removeprefix("retinue.").replace(".", "/") for name in modules())
    # A ring, such as one of keys, is a noun.
    return {place for place in places if place.endswith("ing") and not place.endswith("/ring")}


def participle_tests() -> set[str]:
    paths = (ROOT / "tests").rglob("test_*ing.py")
    return {path.stem.removeprefix("test_") for path in paths}


def classes_by_name() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module)
    return found


def constants() -> Iterator[tuple[str, str]]:
    for module, tree in modules().items():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield module, target.id


_RIDDLE_START = re.compile(r"(What|Of|Whoever|How far)\b")
# Tests have no fields that "Whether" describes, so more beginnings are riddles there.
_TEST_RIDDLE = re.compile(
    r"^(What|Whatever|Of|Who|Whoever|Whom|Whose|Whether|How|However|Where|Which|Whichever|When|As|Were|Had)\b"
    r"|\b(so many|gone? on with|in the name of|belongs? into|tak(e|es|en|ing) up|whichever way|by turns)\b"
    r"|\b(whoever|he|him|himself|his)\b"
)


def riddle_docstrings() -> list[tuple[str, str]]:
    """Return the docstrings of src that begin with a word that keeps the subject back."""
    return [found for found in _docstrings(modules()) if _RIDDLE_START.match(found[1])]


def riddle_test_docstrings(trees: dict[str, ast.Module] | None = None) -> list[tuple[str, str]]:
    """Return the docstrings of tests that keep the subject back or use a word nobody expects."""
    trees = modules_of_tests() if trees is None else trees
    return [found for found in _docstrings(trees) if _TEST_RIDDLE.search(found[1])]


@cache
def modules_of_tests() -> dict[str, ast.Module]:
    """Return every module of tests, parsed, by its path."""
    paths = sorted((ROOT / "tests").rglob("*.py"))
    return {str(path.relative_to(ROOT)): parse(path.read_text()) for path in paths}


def _docstrings(trees: dict[str, ast.Module]) -> Iterator[tuple[str, str]]:
    for name, tree in trees.items():
        for statement in walk_statements(tree):
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            ):
                yield name, statement.value.value


MAX_SHORT_MODULE_LINES = 20
# Packages with a module for each of a kind, however small it is.
_SERIES = re.compile(r"\.(executors|migrations|schemas)\.")
# Files that every domain may have, and programs that are started by their path.
STANDARD_MODULES = {
    "__init__", "__main__", "errors", "events", "job_kinds", "jobs", "loaders", "manifest", "models",
    "program", "queries", "registry", "routes", "run_limited", "schemas",
}  # fmt: skip


def short_modules() -> set[str]:
    """Modules of a few lines that only one other needs: they belong there."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for module, targets in imports().items():
        for target in targets:
            importers[target].add(module)
    return {
        module
        for module in modules()
        if module.rpartition(".")[2] not in STANDARD_MODULES
        and not _SERIES.search(module)
        and _line_count(module) < MAX_SHORT_MODULE_LINES
        and len(importers[module] - {module}) < 2
    }


def _line_count(module: str) -> int:
    return (SOURCE / module.replace(".", "/")).with_suffix(".py").read_text().count("\n")


LOG_EVENT = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}


def log_events() -> Iterator[tuple[str, str]]:
    """Every event that is logged under a name written in the code."""
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            is_logged = node.func.attr in _LOG_METHODS and "log" in ast.unparse(node.func.value)
            if is_logged and isinstance(node.args[0], ast.Constant):
                yield module, str(node.args[0].value)


def any_per_thousand_lines() -> float:
    lines = uses = 0
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        lines += text.count("\n")
        uses += sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(parse(text)))
    return 1000 * uses / lines


@cache
def imports() -> dict[str, set[str]]:
    """Return the imports of each module, inside functions and for type checkers included."""
    known = {name.removesuffix(".__init__") for name in modules()}
    graph: dict[str, set[str]] = {}
    for name, tree in modules().items():
        package = name.removesuffix(".__init__") if name.endswith("__init__") else name.rpartition(".")[0]
        graph[name.removesuffix(".__init__")] = {
            target
            for node in walk_statements(tree)
            if isinstance(node, ast.ImportFrom)
            for target in _targets(node, package, known)
        }
    return graph


def _targets(node: ast.ImportFrom, package: str, known: set[str]) -> Iterator[str]:
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, base]).strip(".")
    for alias in node.names:
        if f"{base}.{alias.name}" in known:
            yield f"{base}.{alias.name}"
        elif base in known:
            yield base


def circles() -> list[set[str]]:
    """The groups of modules that import each other in a circle."""
    graph = imports()
    return [group for group in _strongly_connected(graph) if len(group) > 1]


def _strongly_connected(graph: dict[str, set[str]]) -> Iterator[set[str]]:
    """Kosaraju's algorithm: by the order in which modules are left, along the arrows turned around."""
    order: list[str] = []
    seen: set[str] = set()
    for start in graph:
        _leave(graph, start, seen, order)
    turned: defaultdict[str, set[str]] = defaultdict(set)
    for name, targets in graph.items():
        for target in targets:
            turned[target].add(name)
    taken: set[str] = set()
    for start in reversed(order):
        group: list[str] = []
        _leave(turned, start, taken, group)
        if group:
            yield set(group)


def _leave(graph: dict[str, set[str]], start: str, seen: set[str], left: list[str]) -> None:
    stack = [] if start in seen else [(start, iter(graph.get(start, ())))]
    seen.add(start)
    while stack:
        name, targets = stack[-1]
        following = next((target for target in targets if target not in seen), None)
        if following is None:
            left.append(name)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(graph.get(following, ()))))
