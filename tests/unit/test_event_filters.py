"""Tests of event filters: patterns of names, and conditions on the data."""

import pytest

from retinue.kit.errors import Invalid
from retinue.kit.events.filters import (
    check_filters,
    check_pattern,
    check_patterns,
    is_event_name,
    matches_filters,
    matches_type,
)

DATA = {
    "form_id": "frm_1",
    "count": 3,
    "ratio": 1.0,
    "ok": True,
    "none": None,
    "tags": ["a", "b"],
    "data": {"email": "ada@example.com", "city": "Paris"},
    "items": [{"sku": "x1"}, {"sku": "x2"}],
}


@pytest.mark.parametrize(
    ("pattern", "type", "expected"),
    [
        ("form.created", "form.created", True),
        ("form.created", "form.created.late", False),
        ("form.*", "form.created", True),
        ("form.*", "form.submission.created", True),
        ("form.*", "formula.created", False),
        ("form.submission.*", "form.created", False),
        ("*", "anything.at.all", True),
    ],
)
def test_patterns_take_in_what_begins_like_them(pattern, type, expected):
    check_pattern(pattern, "event_type")
    assert matches_type(pattern, type) is expected


def test_malformed_patterns_are_refused_by_their_place():
    with pytest.raises(Invalid) as refused:
        check_patterns(
            ["form.*", "form", "*.created", "a..b", "A.b", "a.b ", "a.b.", "x" * 300 + ".a"], "events"
        )
    assert sorted(refused.value.details) == [f"events.{n}" for n in range(1, 8)]
    assert not is_event_name("form.*")
    assert is_event_name("my_own.event_2")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, True),
        ({"form_id": "frm_1"}, True),
        ({"form_id": "frm_2"}, False),
        ({"data.form_id": "frm_1"}, True),
        ({"data.email": "ada@example.com"}, True),
        ({"data.data.email": "ada@example.com"}, True),
        ({"form_id": ["frm_0", "frm_1"]}, True),
        ({"form_id": ["frm_0"]}, False),
        ({"ok": [1, True]}, True),
        ({"ok": [1, 1.0]}, False),
        ({"ratio": [True, "x"]}, False),
        ({"count": [True, 3.0]}, True),
        ({"none": ["x", None]}, True),
        ({"missing": [None]}, False),
        ({"tags": ["a", "b"]}, False),
        ({"count": 3.0}, True),
        ({"ok": 1}, False),
        ({"ratio": True}, False),
        ({"none": None}, True),
        ({"missing": None}, False),
        ({"missing": {"exists": False}}, True),
        ({"none": {"exists": True}}, True),
        ({"missing": {"ne": "x"}}, True),
        ({"form_id": {"ne": "frm_1"}}, False),
        ({"count": {"gt": 2, "lte": 3}}, True),
        ({"count": {"gt": 3}}, False),
        ({"count": {"gte": 3, "lt": 4}}, True),
        ({"count": {"gt": "2"}}, False),
        ({"ok": {"gt": 0}}, False),
        ({"form_id": {"gt": "frm_0"}}, True),
        ({"tags": {"contains": "a"}}, True),
        ({"tags": {"contains": "c"}}, False),
        ({"form_id": {"contains": "frm"}}, True),
        ({"count": {"contains": 3}}, False),
        ({"items.1.sku": "x2"}, True),
        ({"items.7.sku": {"exists": False}}, True),
        ({"form_id.x": {"exists": False}}, True),
        ({"form_id": "frm_1", "count": 4}, False),
    ],
)
def test_every_filter_must_hold(filters, expected):
    check_filters(filters)
    assert matches_filters(filters, DATA) is expected
