"""The shapes of the objects that a file describes. A field that is left out has its default."""

from collections.abc import Iterator
from enum import Enum
from typing import Any

import msgspec
from msgspec import UNSET

from retinue.agents.settings import AgentSettings
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.derived import Fields, fields_of, map_type


class Part(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


def to_plain(value: Any, *, with_defaults: bool = False) -> Any:
    """Return a part as plain values. Fields with their default are left out, unless they are asked for."""
    if isinstance(value, Part):
        return {
            field.name: to_plain(inner, with_defaults=with_defaults)
            for field in msgspec.structs.fields(value)
            if (inner := getattr(value, field.name)) is not UNSET
            and (with_defaults or not _has_default(field, inner))
        }
    if isinstance(value, dict):
        return {name: to_plain(inner, with_defaults=with_defaults) for name, inner in value.items()}
    if isinstance(value, list):
        return [to_plain(inner, with_defaults=with_defaults) for inner in value]
    return value


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield what a plain value consists of, each with its path, such as `tools.0.tool`."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _has_default(field: msgspec.structs.FieldInfo, value: object) -> bool:
    if field.default_factory is not msgspec.NODEFAULT:
        return bool(value == field.default_factory())
    return bool(value == field.default)


class ColumnPart(Part, kw_only=True):
    name: str
    type: str
    required: bool = False
    unique: bool = False
    indexed: bool = False
    default: Any = None
    options: list[str] = []
    table: str | None = None


class TablePart(Part, kw_only=True):
    name: str
    description: str = ""
    columns: list[ColumnPart] = []


class ToolPart(Part, kw_only=True):
    """`auth_config` holds what is not secret; with `own_secrets`, the tool has secrets that are entered."""

    name: str
    description: str = ""
    category: str
    tool_type: str
    config: JsonObject = {}
    auth_type: str = "none"
    credential: str | None = None
    auth_config: JsonObject = {}
    own_secrets: bool = False
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    is_enabled: bool = True
    requires_approval: bool = False
    approval: JsonObject | None = None


class AttachedPart(Part, kw_only=True):
    tool: str
    is_enabled: bool = True
    display_order: int = 0
    config_override: JsonObject | None = None
    requires_approval: bool = False
    always_offered: bool = False


def plain_values(fields: Fields) -> Fields:
    """The fields but the name as plain values, which are checked when the file is applied."""
    return [
        field.having(map_type(field.type, _plain_type), _plain_default(field.default))
        for field in fields
        if field.name != "name"
    ]


def _plain_type(type_: Any) -> Any:
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return JsonObject
    return str if isinstance(type_, type) and issubclass(type_, Enum) else type_


def _plain_default(default: Any) -> Any:
    if isinstance(default, msgspec.Struct):
        return {}
    return default.value if isinstance(default, Enum) else default


@fields_of(AgentSettings, plain_values)
class ModelPart(Part, kw_only=True):
    """The definition of an agent, whether on its own or inside a parent."""


class SubAgentPart(Part, kw_only=True):
    """`agent` names another agent of the file; `direct` defines one inside its parent, called `name`."""

    agent: str | None = None
    name: str | None = None
    direct: ModelPart | None = None
    delegation_prompt: str = ""
    is_enabled: bool = True


class WebSearchPart(Part, kw_only=True):
    enabled: bool = False
    search_engine: str = "duckduckgo"
    max_results: int = 5
    safe_search: bool = True
    read_pages: bool = True
    credential_id: str | None = None
    base_url: str | None = None
    allowed_domains: list[str] = []
    blocked_domains: list[str] = []


class LogPart(Part, kw_only=True):
    log_messages: bool = True
    log_tool_calls: bool = True
    log_token_usage: bool = True
    retention_days: int = 30


class AgentPart(ModelPart, kw_only=True):
    """`name` is there only if it differs from the name in the file."""

    name: str | None = None
    status: str = "draft"
    web_search: WebSearchPart = msgspec.field(default_factory=WebSearchPart)
    log_settings: LogPart = msgspec.field(default_factory=LogPart)
    tools: list[AttachedPart] = []
    sub_agents: list[SubAgentPart] = []


class WorkflowPart(Part, kw_only=True):
    name: str | None = None
    description: str = ""
    status: str = "draft"
    trigger: JsonObject = msgspec.field(default_factory=lambda: {"type": "manual", "config": {}})
    nodes: list[JsonObject] = []
    edges: list[JsonObject] = []
    input_schema: JsonObject | None = None
    settings: JsonObject = {}
    ui: JsonObject = {}


class FormTablePart(Part, kw_only=True):
    table: str
    auto_save: bool = False
    field_mapping: dict[str, str] = {}


class FormPart(Part, kw_only=True):
    """A form without its public address, which is generated anew in every tenant."""

    name: str | None = None
    description: str = ""
    status: str = "draft"
    fields: list[JsonObject] = []
    settings: JsonObject = {}
    branding: JsonObject = {}
    workflow: str | None = None
    data_table: FormTablePart | None = None
