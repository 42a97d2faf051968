"""Which operation of the API each screen of the console calls, read from the sources of both.

`docs/reference/console.md` is the table. An operation that no screen calls needs a reason in UNCALLED.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "console" / "src"
OPENAPI = ROOT / "docs" / "reference" / "openapi.json"
METHODS = ("get", "post", "put", "patch", "delete")
EVERY_SCREEN = "every screen"
_FRAME = "frame_route.tsx"

_TYPED_CALL = re.compile(r'\bapi\.(GET|POST|PUT|PATCH|DELETE)\(\s*"([^"]+)"')
_START = r"/(?:api|v1|auth|users|roles|health|me|events|public)\b"
_PATH = re.compile(rf'"({_START}[^"\s]*)"|`({_START}[^`]*)`')
_IMPORT = re.compile(r'(?:import|export)\s+(?!type\b)([^;]*?)\s*from\s+"(\.[^"]+)"|import\("(\.[^"]+)"\)')
_DECLARATION = re.compile(
    r"^export (?:default )?(?:async )?(?:function\*?|const|class|let) (\w+)", re.MULTILINE
)
_ANY_DECLARATION = re.compile(
    r"^(?:export )?(?:default )?(?:async )?(?:function\*?|const|class|let) (\w+)", re.MULTILINE
)
_ROUTE = re.compile(r'path:\s*"([^"]+)"(?:(?!createRoute\().)*?import\("(\.[^"]+)"\)', re.DOTALL)


@dataclass
class Module:
    text: str
    imports: dict[Path, set[str]] = field(default_factory=dict)
    """Each imported module with the imported names; `*` for those that are fetched later."""
    routes: list[tuple[str, Path]] = field(default_factory=list)


@dataclass(frozen=True)
class Call:
    operation: str
    module: Path
    declaration: str


def load_modules() -> dict[Path, Module]:
    """Return the modules of the console, without its tests."""
    found = {
        path: Module(path.read_text())
        for path in sorted(SOURCES.rglob("*.ts*"))
        if ".test." not in path.name and not path.name.startswith("fake_")
    }
    for path, module in found.items():
        for names, static, later in _IMPORT.findall(module.text):
            target = _resolve(path, static or later, found)
            if target:
                imported = set(re.findall(r"\w+", names)) if static else {"*"}
                module.imports.setdefault(target, set()).update(imported)
                if later and path.name == "routes.tsx":
                    module.routes.append((f"/… ({target.stem})", target))
        named = [
            (f"/{address.strip('/')}", _resolve(path, component, found))
            for address, component in _ROUTE.findall(module.text)
        ]
        module.routes = [row for row in module.routes if row[1] not in {target for _, target in named}]
        module.routes += [(address, target) for address, target in named if target]
    return found


def _resolve(importer: Path, name: str, modules: dict[Path, Module]) -> Path | None:
    base = (importer.parent / name).resolve()
    candidates = (base.with_name(base.name + ending) for ending in (".ts", ".tsx"))
    return next((path for path in candidates if path in modules), None)


def load_operations() -> dict[str, bool]:
    """Return each operation, as `GET /path`, and whether it takes a person's access token."""
    document = json.loads(OPENAPI.read_text())
    return {
        f"{method.upper()} {path}": any("bearer" in scheme for scheme in operation.get("security", []))
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def find_calls(modules: dict[Path, Module], operations: dict[str, bool]) -> Iterator[Call]:
    shapes: dict[str, list[str]] = defaultdict(list)
    for operation in operations:
        shapes[_shape(operation.partition(" ")[2])].append(operation)
    for path, module in modules.items():
        for match in _TYPED_CALL.finditer(module.text):
            yield Call(f"{match[1]} {match[2]}", path, _declaration_at(module.text, match.start()))
        for match in _PATH.finditer(module.text):
            if _TYPED_CALL.search(module.text, max(0, match.start() - 40), match.end()):
                continue
            # Streams and uploads name a path alone; what stands around it says with which method.
            choices = shapes.get(_shape(match[1] or match[2]).partition("?")[0], [])
            around = module.text[max(0, match.start() - 30) : match.end() + 80]
            wanted = "POST" if "POST" in around or "upload" in around else "GET"
            for operation in choices if len(choices) == 1 else [c for c in choices if c.startswith(wanted)]:
                yield Call(operation, path, _declaration_at(module.text, match.start()))


def _shape(path: str) -> str:
    return re.sub(r"\$?\{[^}]*\}", "{}", path)


def _declaration_at(text: str, position: int) -> str:
    """Return the name of the declaration of the top level around a place of a module."""
    before = [match[1] for match in _ANY_DECLARATION.finditer(text, 0, position)]
    return before[-1] if before else ""


def screens_of_modules(modules: dict[Path, Module]) -> dict[Path, set[str]]:
    """Return the addresses of the screens that load each module; `every screen` for the frame's."""
    found: dict[Path, set[str]] = defaultdict(set)
    starts = [route for module in modules.values() for route in module.routes]
    starts += [(EVERY_SCREEN, path) for path in modules if path.name == _FRAME]
    for address, start in starts:
        waiting, seen = [start], set()
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            found[path].add(address)
            waiting += modules[path].imports
    return found


def users_of(call: Call, modules: dict[Path, Module]) -> set[Path]:
    """Return the modules that use the declaration around a call."""
    exported = set(_DECLARATION.findall(modules[call.module].text))
    if call.declaration not in exported:
        return {call.module}
    users = {
        path for path, module in modules.items() if call.declaration in module.imports.get(call.module, set())
    }
    # Used beside its declaration, or the component of a route, which nobody imports by name.
    is_used_here = len(re.findall(rf"\b{call.declaration}\b", modules[call.module].text)) > 1
    return users | {call.module} if is_used_here or not users else users


def screens_by_operation() -> dict[str, dict[str, set[str]]]:
    """Return, for each operation, what calls it (`folder: function`) with the screens where it is."""
    modules, operations = load_modules(), load_operations()
    screens = screens_of_modules(modules)
    rows: dict[str, dict[str, set[str]]] = {operation: {} for operation in operations}
    for call in find_calls(modules, operations):
        if call.operation not in rows:
            continue
        where = set().union(*(screens.get(user, set()) for user in users_of(call, modules)))
        name = f"{call.module.relative_to(SOURCES).parent}: {call.declaration}"
        rows[call.operation].setdefault(name, set()).update(where)
    return rows


FOR_PROGRAMS = (
    (r"POST /api/v1/agents/\{agent_id\}/chat(/async)?$", "The console streams its replies."),
    (r"\S+ /api/v1/agents/\{agent_id\}/chat/jobs", "Jobs belong to the program that started them."),
    (r"PUT /api/v1/agents/\{agent_id\}$", "The console changes the draft and publishes it."),
    (r"GET /api/v1/agents/\{agent_id\}/stats$", "The breakdown has the same figures."),
    (r"\S+ /api/v1/agents/\{agent_id\}/(sub-agents|websearch)", "Part of the draft that the console saves."),
    (r"\S+ /v1/agents/\{agent_id\}/tools", "Part of the draft that the console saves."),
    (r"GET /api/v1/chat/pages/", "Called by the hosted page of an agent, which is no screen of the console."),
    (r"POST /v1/chat/completions$", "For clients of OpenAI's API."),
)
"""Operations that no screen needs, and why."""


def reason_not_called(operation: str) -> str:
    return next((reason for pattern, reason in FOR_PROGRAMS if re.match(pattern, operation)), "")


def console_page() -> str:
    """Return the page with each operation that takes a person's token, and where the console calls it."""
    operations, rows = load_operations(), screens_by_operation()
    of_people = sorted((operation for operation, is_theirs in operations.items() if is_theirs), key=_by_path)
    called = [operation for operation in of_people if rows[operation]]
    lines = [
        "# The console and the API",
        "",
        f"{len(of_people)} operations take a person's access token; the console calls {len(called)} of them.",
        "An address with `$` is a screen of one object. An operation that no screen needs says why.",
        "",
        "| Operation | Screens | Called by |",
        "|---|---|---|",
    ]
    for operation in of_people:
        callers = rows[operation]
        addresses = sorted(set().union(*callers.values()))
        where = _describe_screens(addresses) if callers else reason_not_called(operation)
        names = "; ".join(f"`{name}`" for name in sorted(callers))
        lines.append(f"| `{operation}` | {where} | {names} |")
    return "\n".join(lines) + "\n"


def _by_path(operation: str) -> tuple[str, str]:
    method, _, path = operation.partition(" ")
    return path, method


def _describe_screens(addresses: list[str]) -> str:
    if EVERY_SCREEN in addresses:
        return EVERY_SCREEN
    return ", ".join(f"`{address}`" for address in addresses)
