"""The API describes itself: every operation, field, parameter and value, with an example of each body."""

import json
import re
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from retinue.adapters.notifiers import NOTIFIERS
from retinue.domains import DOMAINS
from retinue.events.models import ActionType
from retinue.kit.http.openapi.descriptions import example_of, texts_of
from retinue.tools.config import known_keys
from retinue.tools.models import ToolType
from retinue.workflows.engine.node_type import NODE_TYPES
from tests.contract.descriptions import (
    METHODS,
    config_kinds,
    config_schemas,
    described_names,
    document,
    example_of_kind,
    find_missing,
    only_repeats,
)

ROUTES = [route for manifest in DOMAINS for group in manifest.routes for route in group.routes]
PACKAGES = sorted({manifest.name for manifest in DOMAINS} - {"mail"})
BODIES = [
    route for route in ROUTES if isinstance(route.body, type) and issubclass(route.body, msgspec.Struct)
]
CONFIGS = {one.component: one for _, one in config_schemas()}
EVERY_CONFIG = pytest.mark.parametrize("component", sorted(CONFIGS))
TOOL_KINDS = {f"custom/{kind.name}" for manifest in DOMAINS for kind in manifest.tool_kinds}


def test_everything_is_described():
    assert [gap for _, gap in find_missing(document())] == []


def test_an_operation_is_described_in_the_imperative():
    """An operation says "Return the agents", as a summary and a commit would, not "Returns"."""
    texts = {
        operation["operationId"]: operation["description"]
        for methods in document()["paths"].values()
        for method, operation in methods.items()
        if method in METHODS
    }
    assert len(texts) > 300
    assert [name for name, text in texts.items() if re.match(r"(It|This|[A-Z]\w*[^s]s) ", text)] == []


def test_a_description_that_only_repeats_the_name_is_a_gap():
    schema = {"properties": {"retry_count": {"description": "The retry count."}, "port": {}}}
    found = {"components": {"schemas": {"Box": schema}}, "paths": {}}
    assert [gap for _, gap in find_missing(found)] == [
        "Box.retry_count only repeats its name: The retry count.",
        "Box.port has no description",
    ]
    assert not only_repeats("How often a failed call is repeated.", "retry_count", "Box")


def test_undescribed_values_are_a_gap():
    schema = {"enum": ["draft", "open"], "x-enum-descriptions": {"draft": "Not public.", "gone": "No more."}}
    found = {"components": {"schemas": {"State": schema}}, "paths": {}}
    assert [gap for _, gap in find_missing(found)] == [
        "State: undescribed values ['open']",
        "State: descriptions of values that do not exist ['gone']",
    ]


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.name)
def test_the_example_of_a_body_is_accepted(route: Any):
    example = example_of(route.body)
    assert example is not None
    route.body_decoder(json.dumps(example).encode())


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_describes_what_does_not_exist(package: str):
    texts, names = texts_of(f"retinue.{package}"), described_names(package)
    for table in (texts.fields, texts.examples):
        assert set(table) - names.fields == set()
    assert set(texts.values) - names.fields - names.enums == set()
    assert set(texts.parameters) - names.parameters == set()


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        (
            ("ToolCreate.config", "ToolUpdate.config"),
            {*ToolType} - {"custom"} | {f"custom/{kind}" for kind in known_keys.KINDS} | TOOL_KINDS,
        ),
        (("WorkflowCreate.nodes[].config", "WorkflowUpdate.nodes[].config"), {*NODE_TYPES}),
        (("WorkflowTrigger.config",), {"event", "schedule"}),
        (("ChannelCreate.config", "ChannelUpdate.config"), {*NOTIFIERS}),
        (("SubscriptionCreate.action_config", "SubscriptionUpdate.action_config"), {*ActionType}),
    ],
)
def test_every_kind_of_a_config_has_a_schema(fields: tuple[str, ...], kinds: set[str]):
    for field in fields:
        assert set(config_kinds(document(), field)) == kinds


def test_a_config_itself_stays_a_plain_object():
    schemas = document()["components"]["schemas"]
    said = {"description", "examples", "x-config-schemas"}
    (config, nodes) = (
        schemas["ToolCreate"]["properties"]["config"],
        schemas["WorkflowCreate"]["properties"]["nodes"],
    )
    assert config.keys() - said == {"type"}
    assert nodes["items"].keys() == {"type", "properties"}
    assert nodes["items"]["properties"]["config"].keys() <= said


@EVERY_CONFIG
def test_the_schema_of_a_config_says_what_it_is_and_has_an_example_that_matches(component: str):
    found = document()
    schema = found["components"]["schemas"][component]
    assert schema["description"]
    (example,) = schema["examples"]
    validator = jsonschema_rs.validator_for({**schema, "components": found["components"]})
    assert [error.message for error in validator.iter_errors(example)] == []


@pytest.mark.parametrize("tool_type", [*known_keys.SHAPES, *known_keys.KINDS])
def test_what_is_checked_of_a_tool_when_it_is_saved_is_described(tool_type: str):
    shape = known_keys.SHAPES.get(tool_type) or known_keys.KINDS[tool_type]
    kind = tool_type if tool_type in known_keys.SHAPES else f"custom/{tool_type}"
    described = set(config_kinds(document(), "ToolCreate.config")[kind]["properties"])
    assert {*shape.__struct_encode_fields__} <= described


def test_a_struct_reads_the_example_of_its_kind():
    for component, one in CONFIGS.items():
        if isinstance(one.schema, type):
            msgspec.convert(example_of_kind(document(), component), one.schema)
