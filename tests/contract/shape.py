"""The shape of the code: `violations(root)` lists what breaks a rule in its src and tests folders."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tests.contract.parsed_code import parse

FILE_LINES = 400
FUNCTION_LINES = 60
TEST_ASSERTS = 9
LENGTH_SUFFIXES = {".py", ".lua", ".sql", ".sh", ".html", ".css", ".js"}
DRAWERS = {
    "utils",
    "helpers",
    "common",
    "misc",
    "manager",
    "handlers",
    "util",
    "helper",
    "managers",
    "handler",
}
OPEN_ENDS = re.compile(r"\b(TODO|FIXME|XXX)\b")
RAW_SQL_CALLS = {"execute", "executemany", "exec_driver_sql", "fetch", "fetchrow", "fetchval"}
SQL_PLACES = ("kit/db", "kit/jobs", "kit/events", "migrations")


@dataclass(frozen=True, order=True)
class Violation:
    path: str
    line: int
    rule: str
    detail: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.detail}"


@dataclass(frozen=True)
class Ban:
    """Names that src may not use, each standing also for everything below it, and where they may be used."""

    rule: str
    names: tuple[str, ...]
    instead: str
    places: tuple[str, ...] = ()


BANS = (
    Ban("dynamic-code", ("eval", "exec", "compile", "builtins.eval", "builtins.exec"), "run no text as code"),
    Ban("pickle", ("pickle", "cPickle", "_pickle", "dill", "marshal", "shelve"), "use msgspec"),
    Ban(
        "unsafe-yaml",
        ("yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load", "yaml.unsafe_load_all"),
        "use yaml.safe_load",
    ),
    Ban(
        "shell",
        ("os.system", "os.popen", "asyncio.create_subprocess_shell", "subprocess.getoutput"),
        "start a program with a list of arguments",
    ),
    Ban(
        "clock",
        (
            "time.time",
            "time.time_ns",
            "datetime.datetime.now",
            "datetime.datetime.utcnow",
            "datetime.datetime.today",
            "datetime.date.today",
        ),
        "ask the context's clock",
        ("kit/clock",),
    ),
    Ban(
        "egress",
        (
            "aiohttp",
            "httpx",
            "requests",
            "urllib3",
            "urllib.request",
            "http.client",
            "socket.create_connection",
            "asyncio.open_connection",
        ),
        "go out through kit.egress",
        ("kit/egress",),
    ),
    Ban(
        "database-engine",
        (
            "sqlalchemy.create_engine",
            "sqlalchemy.engine",
            "sqlalchemy.ext.asyncio",
            "sqlalchemy.orm",
        ),
        "reach the database through kit.db",
        ("kit/db", "migrations"),
    ),
    Ban(
        "text-sql",
        ("sqlalchemy.text", "sqlalchemy.sql.text", "sqlalchemy.sql.expression.text", "sqlalchemy.TextClause"),
        "the fence cannot narrow text: build the statement",
        SQL_PLACES,
    ),
)


@dataclass(frozen=True)
class Source:
    """One Python file, parsed; `place` is its path below src/retinue without the suffix, empty for a test."""

    path: str
    place: str
    text: str
    nodes: list[ast.AST]
    """All nodes of the tree; kept, because walking takes longer than the rules."""
    aliases: dict[str, str]

    def within(self, places: tuple[str, ...]) -> bool:
        return any(self.place == place or self.place.startswith(place + "/") for place in places)

    def dotted(self, node: ast.AST) -> str | None:
        """The full name that an expression stands for, followed back through the file's imports."""
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value)
            return f"{owner}.{node.attr}" if owner else None
        return None

    def breaks(self, node: ast.AST, rule: str, detail: str) -> Violation:
        return Violation(self.path, getattr(node, "lineno", 1), rule, detail)


def violations(root: Path) -> list[Violation]:
    found: set[Violation] = set()
    for file in _files(root):
        relative = PurePosixPath(file.relative_to(root))
        found.update(_module_names(relative))
        text = file.read_text()
        found.update(_file_length(relative, text))
        if file.suffix == ".py":
            source = _parse(relative, text)
            rules = SRC_RULES if relative.parts[0] == "src" else ()
            for rule in (*rules, *EVERYWHERE_RULES):
                found.update(rule(source))
    return sorted(found)


def _files(root: Path) -> Iterator[Path]:
    for top in ("src", "tests"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in LENGTH_SUFFIXES and file.is_file():
                yield file


def _parse(relative: PurePosixPath, text: str) -> Source:
    tree = parse(text)
    nodes = list(ast.walk(tree))
    below = relative.parts[2:] if relative.parts[:2] == ("src", "retinue") else ()
    place = PurePosixPath(*below).with_suffix("").as_posix() if below else ""
    return Source(str(relative), place, text, nodes, _aliases(tree, nodes))


def _aliases(tree: ast.Module, nodes: list[ast.AST]) -> dict[str, str]:
    own = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    known = {name: name for name in ("eval", "exec", "compile") if name not in own}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return known


def _module_names(relative: PurePosixPath) -> Iterator[Violation]:
    for part in (*relative.parts[1:-1], relative.stem):
        if part.strip("_") in DRAWERS:
            yield Violation(str(relative), 1, "module-name", f"{part} says nothing about what is inside")


def _is_drafted(path: str) -> bool:
    """A migration is drafted by a machine and never edited again; its length is its tables'."""
    return "migrations/versions/" in path


def _file_length(relative: PurePosixPath, text: str) -> Iterator[Violation]:
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    if lines > FILE_LINES and not _is_drafted(str(relative)):
        yield Violation(str(relative), lines, "file-length", f"{lines} lines, at most {FILE_LINES}")


def _function_length(source: Source) -> Iterator[Violation]:
    for node in source.nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES and not _is_drafted(source.path):
                yield source.breaks(
                    node, "function-length", f"{node.name} has {lines} lines, at most {FUNCTION_LINES}"
                )


def _test_asserts(source: Source) -> Iterator[Violation]:
    for node in source.nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            count = sum(isinstance(part, ast.Assert) for part in ast.walk(node))
            if count > TEST_ASSERTS:
                detail = (
                    f"{node.name} has {count} asserts, at most {TEST_ASSERTS}: split it by behaviour, or "
                )
                yield source.breaks(node, "test-asserts", f"{detail}compare one whole structure")


def _used_names(source: Source) -> Iterator[tuple[ast.AST, str]]:
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            name = source.dotted(node)
            if name:
                yield node, name


def _banned_names(source: Source) -> Iterator[Violation]:
    used = list(_used_names(source))
    for ban in BANS:
        if source.within(ban.places):
            continue
        for node, name in used:
            for banned in ban.names:
                if name == banned or name.startswith(banned + "."):
                    yield source.breaks(node, ban.rule, f"{banned}: {ban.instead}")


def _shell_arguments(source: Source) -> Iterator[Violation]:
    for node in source.nodes:
        if (
            isinstance(node, ast.keyword)
            and node.arg == "shell"
            and not _is_constant(node.value, value=False)
        ):
            yield source.breaks(node, "shell", "shell=True: start a program with a list of arguments")


def _raw_sql(source: Source) -> Iterator[Violation]:
    if source.within(SQL_PLACES):
        return
    for node in source.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        is_text = isinstance(node.args[0], ast.JoinedStr) or (
            isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
        )
        if node.func.attr in RAW_SQL_CALLS and is_text:
            yield source.breaks(node, "text-sql", f"{node.func.attr} of a string: build the statement")


def _open_ends(source: Source) -> Iterator[Violation]:
    if not OPEN_ENDS.search(source.text):
        return
    for line, text in (*_comments(source.text), *_docstrings(source.nodes)):
        match = OPEN_ENDS.search(text)
        if match:
            yield Violation(source.path, line, "open-end", f"{match[0]}: finish it or file an issue")


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _docstrings(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node, clean=False)
            if docstring:
                yield node.body[0].lineno, docstring


def _imports_of_tests(source: Source) -> Iterator[Violation]:
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (*node.module.split("."), *(alias.name for alias in node.names))
            if names[0] == "tests" and any(name.startswith("test_") for name in names):
                yield source.breaks(node, "test-import", "move what is shared into a module beside the tests")


def _imports_for_effect(source: Source) -> Iterator[Violation]:
    if "noqa: F401" not in source.text:
        return
    for line, text in _comments(source.text):
        if "noqa: F401" in text:
            yield Violation(source.path, line, "unused-import", "call what the import is meant to do")


def _unfinished(source: Source) -> Iterator[Violation]:
    for node in source.nodes:
        if isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id == "NotImplementedError":
                yield source.breaks(
                    node, "unfinished", "raises NotImplementedError: write it or leave it out"
                )


# Where the reason stands among the positional arguments; None: it is a keyword only.
SKIPS: dict[str, int | None] = {
    "pytest.skip": 0,
    "pytest.xfail": 0,
    "pytest.mark.skip": 0,
    "pytest.mark.skipif": None,
    "pytest.mark.xfail": None,
    "pytest.importorskip": None,
}


def _skips_without_reason(source: Source) -> Iterator[Violation]:
    explained = {
        id(node.func)
        for node in source.nodes
        if isinstance(node, ast.Call) and _gives_reason(node, source.dotted(node.func) or "")
    }
    for node in source.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in explained:
            name = source.dotted(node)
            if name in SKIPS:
                yield source.breaks(node, "skip-reason", f"{name} without a reason")


def _gives_reason(call: ast.Call, name: str) -> bool:
    given = [keyword.value for keyword in call.keywords if keyword.arg in {"reason", "msg"}]
    position = SKIPS.get(name)
    if position is not None:
        given += call.args[position : position + 1]
    return any(not _is_constant(value, value="") for value in given)


def _is_constant(node: ast.expr, *, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


Rule = Callable[[Source], Iterator[Violation]]
SRC_RULES: tuple[Rule, ...] = (_function_length, _banned_names, _shell_arguments, _raw_sql)
EVERYWHERE_RULES: tuple[Rule, ...] = (
    _imports_for_effect,
    _imports_of_tests,
    _open_ends,
    _skips_without_reason,
    _test_asserts,
    _unfinished,
)
RULES = {
    "file-length",
    "function-length",
    "module-name",
    "open-end",
    "unfinished",
    "skip-reason",
    "test-asserts",
    "test-import",
    "unused-import",
    *(ban.rule for ban in BANS),
}
