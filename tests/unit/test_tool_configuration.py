"""Merging configurations, finding where they lead, and making slugs."""

import pytest

from retinue.tools import slugs
from retinue.tools.config.configuration import apply_override, changed, destination_of
from retinue.tools.models import ToolType


@pytest.mark.parametrize(
    ("config", "override", "result"),
    [
        ({}, {}, {}),
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        ({"a": {"x": 1, "y": {"p": 1}}}, {"a": {"y": {"q": 2}}}, {"a": {"x": 1, "y": {"p": 1, "q": 2}}}),
        ({"a": [1, 2, 3]}, {"a": [4]}, {"a": [4]}),
        ({"a": {"x": 1}}, {"a": [1]}, {"a": [1]}),
        ({"a": 7}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": 1, "b": {"x": 1, "y": 2}}, {"a": None, "b": {"x": None}, "c": None}, {"b": {"y": 2}}),
        ({"a": False}, {"a": 0}, {"a": 0}),
    ],
)
def test_an_override_goes_over_the_configuration_in_depth(config, override, result) -> None:
    before = repr(config), repr(override)
    assert apply_override(config, override) == result
    assert (repr(config), repr(override)) == before


@pytest.mark.parametrize(
    ("config", "changes", "result"),
    [
        ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"y": 2}}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({}, {"a": None, "endpoints": {"x": None, "y": {"path": "/"}}}, {"endpoints": {"y": {"path": "/"}}}),
        (
            {"endpoints": {"x": {"path": "/x", "method": "GET"}}},
            {"endpoints": {"x": {"path": "/z"}}},
            {"endpoints": {"x": {"path": "/z"}}},
        ),
        ({"endpoints": {"x": {}}}, {"endpoints": None}, {}),
        ({"endpoints": {"x": {}}}, {"endpoints": "nonsense"}, {"endpoints": "nonsense"}),
    ],
)
def test_an_update_goes_over_the_configuration_by_key(config, changes, result) -> None:
    before = repr(config), repr(changes)
    assert changed(config, changes) == result
    assert (repr(config), repr(changes)) == before


@pytest.mark.parametrize(
    ("tool_type", "config", "destination"),
    [
        ("rest_api", {"base_url": "HTTPS://API.Example.com:443/v2?x"}, "https://api.example.com"),
        ("rest_api", {"base_url": "http://api.example.com:8080"}, "http://api.example.com:8080"),
        ("rest_api", {"base_url": "https://user@example.com"}, ""),
        ("rest_api", {"base_url": 7}, ""),
        ("rest_api", {}, ""),
        ("webhook", {"url": "https://hooks.example.com/x"}, "https://hooks.example.com"),
        ("database", {"db_type": "postgres", "host": "DB.example.com."}, "postgresql://db.example.com:5432"),
        ("database", {"db_type": "MariaDB", "host": "db", "port": 3307}, "mysql://db:3307"),
        ("database", {"db_type": "sqlite", "database": "x.db"}, ""),
        ("database", {"host": "db"}, ""),
        ("database", {"db_type": "mysql", "host": ["db"]}, ""),
        ("custom", {"kind": "mcp", "server_url": "https://mcp.example.com/sse"}, "https://mcp.example.com"),
        ("custom", {"kind": "http_template", "request": {"url": "https://a.b/{{x}}"}}, "https://a.b"),
        ("custom", {"kind": "http_template", "request": {"url": "https://{{host}}/x"}}, ""),
        ("custom", {"kind": "http_template", "request": "x"}, ""),
        ("custom", {"kind": "workflow", "server_url": "https://mcp.example.com"}, ""),
        ("function", {"base_url": "https://api.example.com"}, ""),
    ],
)
def test_a_configuration_leads_to_one_destination(tool_type, config, destination) -> None:
    assert destination_of(ToolType(tool_type), config) == destination


def test_numbered_slugs_stay_short_enough_for_a_model() -> None:
    numbers = slugs.numbered_candidates(slugs.from_name("x" * 100))
    assert [len(next(numbers)) for _ in range(3)] == [56, 58, 58]
    assert slugs.from_name("Ärger -- mit §") == "arger-mit"
