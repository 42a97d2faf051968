"""Tests that a conversation accepts exactly the data that the API accepts, for any fields and values."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories.form_talks import Talk
from tests.factories.forms import address, make_form, send, submission
from tests.unit.form_field_cases import CASES

KINDS = [case for case in CASES if case[0] != "file"]
NOTHING = [None, "", "  ", []]
CONDITIONS = [
    {"operator": "is_not_empty"},
    {"operator": "is_empty"},
    {"operator": "equals", "value": "a"},
    {"operator": "not_equals", "value": True},
    {"operator": "greater_than", "value": 3},
]


@st.composite
def forms(draw: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Some fields, and what someone would answer to them."""
    fields, data = [], {}
    for number in range(draw(st.integers(1, 5))):
        type, rules, good, bad = draw(st.sampled_from(KINDS))
        field: dict[str, Any] = {"id": f"f{number}", "type": type, "label": f"Question {number}"}
        field |= {"validation": rules, "required": draw(st.booleans())}
        if number and draw(st.integers(0, 2)) == 0:
            other = f"f{draw(st.integers(0, number - 1))}"
            field["conditional"] = {"field": other, **draw(st.sampled_from(CONDITIONS))}
        chosen = draw(st.sampled_from([good, good, good, NOTHING, bad]))
        value = draw(st.sampled_from(chosen or good or NOTHING))
        data[field["id"]] = value[0] if isinstance(value, tuple) else value
        fields.append(field)
    return fields, {id: value for id, value in data.items() if is_json(value)}


def is_json(value: Any) -> bool:
    """Return whether it is JSON, and small enough that a body of several values is not too large."""
    try:
        return len(json.dumps(value)) < 200_000
    except TypeError:
        return False


def message_for(value: Any) -> dict[str, str] | None:
    """Return the value as a page sends it; None if there is nothing to send."""
    if value is None or value in ([], {}) or (isinstance(value, str) and not value.strip()):
        return None
    return {"content": value if isinstance(value, str) else json.dumps(value)}


async def submit_by_talking(api: Any, form: dict[str, Any], data: dict[str, Any]) -> str | None:
    """Say all this; return the submission, if one was made."""
    hidden = {field["id"] for field in form["fields"] if field["type"] == "hidden"}
    prefill = {id: value for id, value in data.items() if id in hidden}
    started = await api.post(address(form, "conversations"), {"prefill": prefill})
    if started.status == 400:
        return None
    talk = Talk(api, form, started.json()["data"])
    if talk.last["errors"]:
        return None
    for _ in range(3 * len(form["fields"]) + 1):
        said = message_for(data.get(talk.asked)) if talk.asked else {"content": "yes"}
        more = {"field_id": talk.asked} if talk.asked and said else {}
        await talk.say(**(said or {"content": "skip"}), **more)
        if talk.last["status"] != "active":
            return talk.last.get("submission_id")
    return None


@pytest.mark.either_database
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=forms())
async def test_the_api_and_a_conversation_take_the_same_data(person, api, visitors, case) -> None:
    fields, data = case
    form = await make_form(person, *fields)
    visitor = api.at(f"198.51.{len(visitors) // 250}.{len(visitors) % 250}")
    visitors.append(visitor)
    answer = await send(visitor, form, data or {"nothing": 1})
    said = await submit_by_talking(visitor, form, data)
    if answer.status == 201:
        kept = await submission(person, form, answer.json()["data"]["submission_id"])
        assert said is not None, data
        assert (await submission(person, form, said))["data"] == kept["data"]
    elif said is not None:
        # What is no value as it stands may be one in words; it is one for the API then.
        told = (await submission(person, form, said))["data"]
        again = await send(visitor, form, told or {"nothing": 1})
        assert again.status == 201, told
        kept = await submission(person, form, again.json()["data"]["submission_id"])
        assert kept["data"] == told


@pytest.fixture
def visitors() -> list[Any]:
    """One address for each, so that none comes too often."""
    return []
