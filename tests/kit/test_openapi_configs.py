"""Free-form configurations in the OpenAPI document: their schemas stand beside them, by kind."""

import json
from typing import Any

import msgspec
import pytest

from retinue.kit.context import Context
from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.context.manifest import Manifest
from retinue.kit.http.openapi import describe
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.schema.base import Schema


class _BoxCreate(Schema):
    config: dict[str, Any]
    parts: list[dict[str, Any]]


class _RoundBoxConfig(msgspec.Struct):
    """A box without corners."""

    width: int
    lid: bool = False


_LENGTH = {"type": "integer"}
_SQUARE = {"type": "object", "properties": {"width": _LENGTH, "height": _LENGTH}, "required": ["height"]}


def _describe_boxes(*declared):
    routes = Routes("/boxes", tag="boxes")

    @routes.post("", requires=PUBLIC)
    async def create_box(ctx: Context, body: _BoxCreate) -> None: ...

    manifests = (Manifest(name="kit", config_schemas=declared),)
    return json.loads(describe(routes.routes, "", manifests))["components"]["schemas"]


def test_a_free_form_object_stays_one_and_lists_the_schemas_of_its_kinds():
    places = ("_BoxCreate.config", "_BoxCreate.parts[].config")
    schemas = _describe_boxes(
        ConfigSchema(fields=places, kind="other/round", schema=_RoundBoxConfig),
        ConfigSchema(
            fields=places, kind="square", schema=_SQUARE, name="Square", description="Four corners."
        ),
        ConfigSchema(fields=("Crate.config",), kind="square", schema=_SQUARE, name="SquareCrate"),
    )
    kinds = {name: {"$ref": f"#/components/schemas/{name}"} for name in ("Square", "_RoundBoxConfig")}
    by_kind = {"square": kinds["Square"], "other/round": kinds["_RoundBoxConfig"]}
    box = schemas["_BoxCreate"]["properties"]
    assert box["config"] == {"type": "object", "x-config-schemas": by_kind}
    assert list(box["config"]["x-config-schemas"]) == ["square", "other/round"]
    assert box["parts"]["items"] == {
        "type": "object",
        "properties": {"config": {"x-config-schemas": by_kind}},
    }
    assert schemas["Square"] == {**_SQUARE, "title": "Square", "description": "Four corners."}
    assert list(schemas["Square"]["properties"]) == ["height", "width"]
    assert schemas["_RoundBoxConfig"]["required"] == ["width"]
    assert "SquareCrate" not in schemas, "the document has no field of that name"


def test_two_configs_of_one_name_are_refused():
    square = ConfigSchema(fields=("_BoxCreate.config",), kind="square", schema=_SQUARE, name="Square")
    with pytest.raises(TypeError, match="Square"):
        _describe_boxes(square, square)
