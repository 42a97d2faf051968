"""The file as a whole. A section that is left out is not touched."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from retinue.adapters.openapi.yaml_text import parse_plain_scalar
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import field_errors
from retinue.tenant_file.integration_parts import (
    AgentDocumentPart,
    BudgetPart,
    ChannelPart,
    IncomingWebhookPart,
    SubscriptionPart,
    TraceExporterPart,
    WebhookPart,
)
from retinue.tenant_file.parts import AgentPart, FormPart, Part, TablePart, ToolPart, WorkflowPart, to_plain

FORMAT_VERSION = 1
MAX_KEY_LENGTH = 300


class TenantDocument(Part, kw_only=True):
    """`warnings` is what an export could not include; it is ignored when the file is applied."""

    retinue: int
    data_tables: dict[str, TablePart] | UnsetType = UNSET
    tools: dict[str, ToolPart] | UnsetType = UNSET
    agents: dict[str, AgentPart] | UnsetType = UNSET
    workflows: dict[str, WorkflowPart] | UnsetType = UNSET
    forms: dict[str, FormPart] | UnsetType = UNSET
    notification_channels: dict[str, ChannelPart] | UnsetType = UNSET
    webhooks: dict[str, WebhookPart] | UnsetType = UNSET
    incoming_webhooks: dict[str, IncomingWebhookPart] | UnsetType = UNSET
    subscriptions: dict[str, SubscriptionPart] | UnsetType = UNSET
    budgets: dict[str, BudgetPart] | UnsetType = UNSET
    trace_exporters: dict[str, TraceExporterPart] | UnsetType = UNSET
    agent_documents: dict[str, AgentDocumentPart] | UnsetType = UNSET
    warnings: list[str] = []

    def section(self, name: str) -> JsonObject | None:
        """Return a section's parts by name, or None if the file does not contain it."""
        parts = getattr(self, name)
        return None if parts is UNSET else parts

    def included(self) -> list[str]:
        return [name for name in SECTION_NAMES if self.section(name) is not None]


SECTION_NAMES = tuple(
    name for name in TenantDocument.__struct_fields__ if name not in {"retinue", "warnings"}
)


def convert_values(shape: type[Any], values: object, field: str = "") -> Any:
    """Convert values to `shape`; raise Invalid with the errors by field.

    `field` names the value if it is a single one.
    """
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        errors = field_errors(error, values, shape)
        raise Invalid({field: errors["body"]} if field else errors) from None


def read_document(content: object) -> TenantDocument:
    """Return the document with the shapes of its objects checked; raise Invalid by section and object."""
    document: TenantDocument = convert_values(TenantDocument, content)
    if document.retinue != FORMAT_VERSION:
        raise Invalid({"retinue": f"must be {FORMAT_VERSION}"})
    for section in SECTION_NAMES:
        for key, part in (document.section(section) or {}).items():
            if not key.strip() or not key.isprintable() or len(key) > MAX_KEY_LENGTH:
                raise Invalid(
                    {f"{section}/{key[:80]!r}": f"must be a name of 1 to {MAX_KEY_LENGTH} visible characters"}
                )
            if getattr(part, "name", None) == key and section not in {"data_tables", "tools"}:
                part.name = None if section != "agent_documents" else part.name
    return document


def render_document(document: TenantDocument, format: str) -> str:
    plain = to_plain(document)
    if format == "json":
        return msgspec.json.format(msgspec.json.encode(plain)).decode() + "\n"
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes multi-line texts in block style, and quotes what the reader would not take for a text."""

        def ignore_aliases(self, _data: object) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None if parse_plain_scalar(value) == value else "'"
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    rendered: str = yaml.dump(plain, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return rendered
