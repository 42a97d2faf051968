"""Write docs/reference/*.md from the declarations themselves; `--check` only compares."""

import importlib
import pkgutil
import sys
from pathlib import Path

import msgspec
from console_calls import console_page

import retinue
from retinue.access.catalogue import CATALOGUE, default_permissions
from retinue.access.models import Role
from retinue.chat.engine.call_outcomes import CALL_CODES
from retinue.credentials.errors import TEST_CODES
from retinue.kit.errors import InternalError, RetinueError
from retinue.kit.events.declare import EVENT_TYPES
from retinue.kit.metrics.declarations import METRICS
from retinue.kit.metrics.series import GaugeDeclaration
from retinue.kit.setting_loader import list_documented_settings
from retinue.tools.errors import EXECUTION_CODES
from retinue.webhooks.errors import DELIVERY_CODES
from retinue.workflows.errors import NODE_CODES

HOME = Path(__file__).parent.parent / "docs" / "reference"
RECORD_CODES = {
    "tool executions": EXECUTION_CODES,
    "workflow executions": NODE_CODES,
    "tool calls of messages": CALL_CODES,
    "webhook deliveries": DELIVERY_CODES,
    "credential tests": TEST_CODES,
}


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "Every setting is an environment variable, and can stand in a `.env` file in the working directory.",
        "`RETINUE_<NAME>_FILE` names a file that holds the value instead, such as a secret of a container.",
        "An unknown `RETINUE_*` variable gets a warning at start that names the nearest known one.",
        "",
        "| Variable | Default | Meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{row.variable}` | {row.default} | {row.meaning} |" for row in list_documented_settings()]
    return "\n".join(lines) + "\n"


def error_classes() -> list[type[RetinueError]]:
    """Every error of the package, those that no response carries included."""
    found: dict[tuple[int, str, str], type[RetinueError]] = {}
    waiting = [RetinueError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("retinue."):
            found[kind.status, kind.code, kind.__name__] = kind
    return [found[key] for key in sorted(found)]


def errors_page() -> str:
    lines = [
        "# Errors",
        "",
        'Every error is `{"error": {"code", "message", "details"?}}`. Several situations may share a code;',
        "`details.reason` tells 401s and 403s apart.",
        "",
        "| Status | Code | When | Class |",
        "|---|---|---|---|",
    ]
    kinds = error_classes()
    lines += [
        f"| {kind.status} | `{kind.code}` | {_message(kind)} | `{kind.__name__}` |"
        for kind in kinds
        if not issubclass(kind, InternalError)
    ]
    lines += [
        "",
        "## Codes in records",
        "",
        "Records of work that failed show a code too: executions, deliveries, imports, jobs, test results.",
        "It has no HTTP status, because no request failed. Records may also show a code of the table above,",
        "for example `model_error` in a chat job.",
        "",
        "| Code | When | Shown in |",
        "|---|---|---|",
    ]
    lines += [f"| `{code}` | {message} | {places} |" for code, message, places in record_codes(kinds)]
    return "\n".join(lines) + "\n"


def record_codes(kinds: list[type[RetinueError]]) -> list[tuple[str, str, str]]:
    """Return code, meaning and kinds of records, sorted."""
    rows = [(*row, place) for place, codes in RECORD_CODES.items() for row in codes.items()]
    rows += [
        (kind.code, _message(kind), kind.shown_in)
        for kind in kinds
        if issubclass(kind, InternalError) and kind.shown_in
    ]
    places: dict[tuple[str, str], list[str]] = {}
    for code, message, place in rows:
        places.setdefault((code, message), []).append(place)
    return [(*row, ", ".join(sorted(set(found)))) for row, found in sorted(places.items())]


def _message(kind: type[RetinueError]) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]


def events_page() -> str:
    lines = [
        "# Events",
        "",
        "What happened, as rows written in the transaction of the change. *Listed* events stand in the event",
        "log and go to listeners; *audited* ones are written to the tenant's hash-chained audit log as well.",
        "",
    ]
    for name in sorted(EVENT_TYPES):
        kind = EVENT_TYPES[name]
        where = " and ".join(
            word for word, holds in (("listed", kind.is_listed), ("audited", kind.is_audited)) if holds
        )
        lines += [f"## `{name}`", "", f"{kind.description} ({where})", "", "| Field | Type |", "|---|---|"]
        lines += [
            f"| `{field.name}` | {_type_name(field.type)} |" for field in msgspec.structs.fields(kind.payload)
        ]
        lines.append("")
    return "\n".join(lines)


def _type_name(annotation: object) -> str:
    schema = msgspec.json.schema(annotation)
    if "anyOf" in schema:
        return " or ".join(str(option.get("type", "value")) for option in schema["anyOf"])
    return str(schema.get("type", "value"))


def permissions_page() -> str:
    held = {role: set(default_permissions(role)) for role in Role}
    lines = [
        "# Permissions",
        "",
        "Which role holds which key until a super administrator changes it, with",
        "`PUT /roles/:role/permissions`.",
        "",
        "| Key | Meaning | " + " | ".join(role.value for role in Role) + " |",
        "|---|---|" + "---|" * len(Role),
    ]
    for permission in CATALOGUE:
        marks = " | ".join("x" if permission.key in held[role] else "" for role in Role)
        lines.append(f"| `{permission.key}` | {permission.description} | {marks} |")
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    lines = [
        "# Metrics",
        "",
        "What `GET /metrics` shows while `RETINUE_METRICS` is on; the guide is [here](../guides/metrics.md).",
        "A histogram `x` is shown as `x_bucket`, `x_sum` and `x_count`.",
        "",
        "| Name | Type | Labels | Meaning | Several processes |",
        "|---|---|---|---|---|",
    ]
    for name, declared in METRICS.items():
        labels = ", ".join(f"`{label}`" for label in declared.labels)
        across = _ACROSS[declared.across] if isinstance(declared, GaugeDeclaration) else "sum"
        lines.append(f"| `{name}` | {declared.type} | {labels} | {declared.help} | {across} |")
    return "\n".join(lines) + "\n"


_ACROSS = {
    "livesum": "sum of those that run",
    "livemax": "maximum of those that run",
    "livemostrecent": "last measured by a worker that runs",
}


def pages() -> dict[str, str]:
    """Every page by its file name."""
    for module in pkgutil.walk_packages(retinue.__path__, "retinue."):
        if not module.name.startswith(("retinue.migrations.", "retinue.adapters.images.child")):
            importlib.import_module(module.name)
    return {
        "settings.md": settings_page(),
        "errors.md": errors_page(),
        "events.md": events_page(),
        "permissions.md": permissions_page(),
        "metrics.md": metrics_page(),
        "console.md": console_page(),
    }


def main(*, only_check: bool) -> int:
    HOME.mkdir(parents=True, exist_ok=True)
    stale = []
    for name, content in pages().items():
        path = HOME / name
        if path.is_file() and path.read_text() == content:
            continue
        stale.append(name)
        if not only_check:
            path.write_text(content)
    if only_check and stale:
        sys.stdout.write(f"docs/reference is stale ({', '.join(stale)}): run make reference\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(only_check="--check" in sys.argv))
