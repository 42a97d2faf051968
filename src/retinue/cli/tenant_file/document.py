"""What stands in the file. What is left out has its default; a section that is left out is not touched."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from retinue.adapters.openapi.yaml_text import read_yaml
from retinue.kit.errors import Invalid
from retinue.kit.validation import field_errors

VERSION = 1
SECTIONS = ("data_tables", "tools", "agents", "workflows", "forms")
"""In the order in which they need each other."""

Json = dict[str, Any]


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
    """`own_secrets` says that there are some, which stay in the vault: nothing here changes them."""

    name: str
    description: str = ""
    category: str
    tool_type: str
    config: Json = {}
    auth_type: str = "none"
    credential: str | None = None
    own_secrets: bool = False
    input_schema: Json | None = None
    output_schema: Json | None = None
    is_enabled: bool = True
    requires_approval: bool = False
    approval: Json | None = None


class AttachedPart(_Part, kw_only=True):
    tool: str
    is_enabled: bool = True
    display_order: int = 0
    config_override: Json | None = None
    requires_approval: bool = False


class ModelPart(_Part, kw_only=True):
    """What makes an agent, whether it stands alone or lives with a parent."""

    description: str = ""
    primary_model: str
    fallback_models: list[str] = []
    system_prompt: str
    temperature: float = 0.7
    max_tokens: int = 2048


class SubAgentPart(_Part, kw_only=True):
    """`agent` names another agent of the file; `direct` is one that lives with its parent, under `name`."""

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
    trigger: Json = msgspec.field(default_factory=lambda: {"type": "manual", "config": {}})
    nodes: list[Json] = []
    edges: list[Json] = []
    input_schema: Json | None = None
    settings: Json = {}


class FormTablePart(_Part, kw_only=True):
    table: str
    auto_save: bool = False
    field_mapping: dict[str, str] = {}


class FormPart(_Part, kw_only=True):
    """Its address is made anew in every tenant: no two forms of an instance have the same."""

    description: str = ""
    status: str = "draft"
    fields: list[Json] = []
    settings: Json = {}
    branding: Json = {}
    workflow: str | None = None
    data_table: FormTablePart | None = None


class Document(_Part, kw_only=True):
    retinue: int
    data_tables: dict[str, TablePart] | UnsetType = UNSET
    tools: dict[str, ToolPart] | UnsetType = UNSET
    agents: dict[str, AgentPart] | UnsetType = UNSET
    workflows: dict[str, WorkflowPart] | UnsetType = UNSET
    forms: dict[str, FormPart] | UnsetType = UNSET

    def section(self, name: str) -> dict[str, Any] | None:
        """The parts of a section by their names; None where the file says nothing of it."""
        found = getattr(self, name)
        return None if found is UNSET else found


def read(text: str) -> Document:
    raw = read_yaml(text)
    try:
        document = msgspec.convert(raw, Document)
    except msgspec.ValidationError as error:
        raise Invalid(field_errors(error, raw, Document)) from None
    if document.retinue != VERSION:
        raise Invalid({"retinue": f"must be {VERSION}"})
    return document


def written(document: Document, format: str) -> str:
    plain = msgspec.to_builtins(document)
    if format == "json":
        return msgspec.json.format(msgspec.json.encode(plain)).decode() + "\n"
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes texts of several lines as such."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    made: str = yaml.dump(plain, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return made
