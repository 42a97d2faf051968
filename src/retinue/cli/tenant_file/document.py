"""The structure of the file. Missing fields have their defaults; missing sections are left unchanged."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from retinue.adapters.openapi.yaml_text import parse_yaml
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import field_errors

FORMAT_VERSION = 1
SECTIONS = ("data_tables", "tools", "agents", "workflows", "forms")
"""In dependency order."""


class _Part(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class ColumnPart(_Part, kw_only=True):
    name: str
    type: str
    required: bool = False
    unique: bool = False
    indexed: bool = False
    default: Any = None
    options: list[str] = []
    table: str | None = None


class TablePart(_Part, kw_only=True):
    name: str
    description: str = ""
    columns: list[ColumnPart] = []


class ToolPart(_Part, kw_only=True):
    """`own_secrets` means that the tool has secrets; they stay in the vault, unchanged by the file."""

    name: str
    description: str = ""
    category: str
    tool_type: str
    config: JsonObject = {}
    auth_type: str = "none"
    credential: str | None = None
    own_secrets: bool = False
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    is_enabled: bool = True
    requires_approval: bool = False
    approval: JsonObject | None = None


class AttachedPart(_Part, kw_only=True):
    tool: str
    is_enabled: bool = True
    display_order: int = 0
    config_override: JsonObject | None = None
    requires_approval: bool = False
    always_offered: bool = False


class ModelPart(_Part, kw_only=True):
    """The definition of an agent, whether on its own or inside a parent."""

    description: str = ""
    primary_model: str
    fallback_models: list[str] = []
    system_prompt: str
    temperature: float | None = 0.7
    max_tokens: int | None = 2048
    cache_ttl: str = "5m"
    timeouts: JsonObject = {}
    output_schema: JsonObject | None = None
    reasoning_effort: str | None = None
    tool_search: str = "auto"
    max_context_tokens: int | None = None
    compaction_model: str | None = None


class SubAgentPart(_Part, kw_only=True):
    """`agent` names another agent of the file; `direct` defines one inside its parent, called `name`."""

    agent: str | None = None
    name: str | None = None
    direct: ModelPart | None = None
    delegation_prompt: str = ""
    is_enabled: bool = True


class WebSearchPart(_Part, kw_only=True):
    enabled: bool = False
    search_engine: str = "duckduckgo"
    max_results: int = 5
    safe_search: bool = True
    read_pages: bool = True
    credential_id: str | None = None
    base_url: str | None = None
    allowed_domains: list[str] = []
    blocked_domains: list[str] = []


class LogPart(_Part, kw_only=True):
    log_messages: bool = True
    log_tool_calls: bool = True
    log_token_usage: bool = True
    retention_days: int = 30


class AgentPart(ModelPart, kw_only=True):
    status: str = "draft"
    web_search: WebSearchPart = msgspec.field(default_factory=WebSearchPart)
    log_settings: LogPart = msgspec.field(default_factory=LogPart)
    tools: list[AttachedPart] = []
    sub_agents: list[SubAgentPart] = []


class WorkflowPart(_Part, kw_only=True):
    description: str = ""
    status: str = "draft"
    trigger: JsonObject = msgspec.field(default_factory=lambda: {"type": "manual", "config": {}})
    nodes: list[JsonObject] = []
    edges: list[JsonObject] = []
    input_schema: JsonObject | None = None
    settings: JsonObject = {}


class FormTablePart(_Part, kw_only=True):
    table: str
    auto_save: bool = False
    field_mapping: dict[str, str] = {}


class FormPart(_Part, kw_only=True):
    """A form without its public address, which is generated anew in every tenant."""

    description: str = ""
    status: str = "draft"
    fields: list[JsonObject] = []
    settings: JsonObject = {}
    branding: JsonObject = {}
    workflow: str | None = None
    data_table: FormTablePart | None = None


class TenantDocument(_Part, kw_only=True):
    retinue: int
    data_tables: dict[str, TablePart] | UnsetType = UNSET
    tools: dict[str, ToolPart] | UnsetType = UNSET
    agents: dict[str, AgentPart] | UnsetType = UNSET
    workflows: dict[str, WorkflowPart] | UnsetType = UNSET
    forms: dict[str, FormPart] | UnsetType = UNSET

    def section(self, name: str) -> JsonObject | None:
        """Return a section's parts by name, or None if the file does not contain it."""
        parts = getattr(self, name)
        return None if parts is UNSET else parts


def convert_values(shape: type[Any], values: object, field: str = "") -> Any:
    """Convert values to `shape`; raise Invalid with the errors by field.

    `field` names the value if it is a single one.
    """
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        errors = field_errors(error, values, shape)
        raise Invalid({field: errors["body"]} if field else errors) from None


def read(text: str) -> TenantDocument:
    document: TenantDocument = convert_values(TenantDocument, parse_yaml(text))
    if document.retinue != FORMAT_VERSION:
        raise Invalid({"retinue": f"must be {FORMAT_VERSION}"})
    return document


def render_document(document: TenantDocument, format: str) -> str:
    plain = msgspec.to_builtins(document)
    if format == "json":
        return msgspec.json.format(msgspec.json.encode(plain)).decode() + "\n"
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes multi-line texts in block style."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    rendered: str = yaml.dump(plain, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return rendered
