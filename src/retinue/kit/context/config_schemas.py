"""Schemas of free-form objects, such as the `config` of a tool, for the API reference.

The document keeps the property a plain object, and lists the schema of each kind in `x-config-schemas`.
"""

import msgspec

from retinue.kit.json_types import JsonObject

ConfigStruct = type[msgspec.Struct]


class ConfigSchema(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of a free-form object; `schema` is the declaration that the domain checks it with.

    `[fields]`, `[values]` and `[examples]` of the package's `descriptions.toml` describe the properties of a
    JSON Schema under `<name>.<property>`, as they do for a class, and give a worked example under `<name>`.
    """

    fields: tuple[str, ...]
    """Where clients send it, such as `ToolCreate.config` or `WorkflowCreate.nodes[].config`."""
    kind: str
    """The value that selects the kind, such as one of `tool_type`."""
    schema: ConfigStruct | JsonObject
    name: str = ""
    """The name of the component; a class has its own."""
    description: str = ""
    """Description of the component; a class has a docstring."""

    @property
    def component(self) -> str:
        return self.schema.__name__ if isinstance(self.schema, type) else self.name
