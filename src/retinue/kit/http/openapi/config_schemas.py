"""`x-config-schemas`: what a free-form object holds, for each of its kinds."""

from collections.abc import Iterable

import msgspec

from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.context.manifest import Manifest
from retinue.kit.http.openapi.descriptions import describe_properties, example_of_config, package_of
from retinue.kit.http.openapi.schemas import SchemaComponents
from retinue.kit.json_types import JsonObject


def add_config_schemas(components: SchemaComponents, manifests: Iterable[Manifest]) -> None:
    """Add a component for each kind of the fields that the document has, and refer to it from there."""
    references: dict[str, JsonObject] = {}
    for manifest in manifests:
        for declared in manifest.config_schemas:
            fields = [field for field in declared.fields if field.partition(".")[0] in components]
            if fields:
                reference = _add_component(components, f"retinue.{manifest.name}", declared)
                for field in fields:
                    references.setdefault(field, {})[declared.kind] = reference
    for field, by_kind in references.items():
        # Kinds of a kind, such as `custom/mcp`, come last.
        ordered = dict(sorted(by_kind.items(), key=lambda item: "/" in item[0]))
        components.property_at(field)["x-config-schemas"] = ordered


def _add_component(components: SchemaComponents, package: str, declared: ConfigSchema) -> JsonObject:
    if isinstance(declared.schema, type):
        reference = components.request_schema(declared.schema)
        package = package_of(declared.schema)
    else:
        # A copy without shared parts, because each place gets a description of its own.
        schema = msgspec.json.decode(msgspec.json.encode(declared.schema))
        describe_properties(package, declared.name, schema)
        reference = components.add(declared.name, {"description": declared.description, **schema})
    components.add_example(declared.component, example_of_config(package, declared.component))
    return reference
