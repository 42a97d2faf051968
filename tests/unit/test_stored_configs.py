"""Stored configurations: every wrong key is named, and a draft may lack keys."""

import msgspec
import pytest

from retinue.kit.errors import Invalid
from retinue.kit.schema.configs import describe_first_problem, find_wrong_keys, parse_config


class Inner(msgspec.Struct, kw_only=True):
    url: str
    method: str = "GET"


class Shape(msgspec.Struct, kw_only=True):
    name: str
    count: int = 1
    inner: Inner | None = None
    many: dict[str, Inner] = {}


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        ({}, set()),
        ({"unknown": [None]}, set()),
        ({"name": None, "count": None}, set()),
        ({"inner": {}, "many": {"a": {"url": None}, "b": None}}, set()),
        ({"count": "1"}, {"count"}),
        (
            {"name": 7, "inner": {"method": 5}, "many": {"a": {"url": []}}},
            {"name", "inner.method", "many.a.url"},
        ),
        ({"many": {"a": 1}}, {"many.a"}),
    ],
)
def test_a_draft_may_lack_keys_but_not_have_wrong_ones(config, wrong) -> None:
    assert set(find_wrong_keys(config, Shape)) == wrong


def test_a_configuration_in_use_names_what_is_missing_and_wrong() -> None:
    with pytest.raises(Invalid) as caught:
        parse_config({"count": "1", "inner": {}}, Shape, "config")
    assert caught.value.details == {
        "config.name": "is required",
        "config.count": "must be a whole number",
        "config.inner.url": "is required",
    }
    assert describe_first_problem(caught.value) == "config.name is required."
