"""Documents that mean harm: too large, too deep, of other types, with aliases that multiply."""

import pytest

from retinue.access.models import Role
from tests.tenant_file.filled import PATH, plan

pytestmark = pytest.mark.either_database

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP = "[" * 5_000 + "]" * 5_000


@pytest.fixture
async def api(people):
    return await people.signed_in(Role.tenant_admin, await people.tenant())


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ("", "document"), ("x", "body"), ("[]", "body"), ("{", "document"), ("a: b: c", "document"),
        (BOMB + "retinue: 1\n", "document"), (DEEP, "document"), ({}, "retinue"),
        ({"retinue": True}, "retinue"),
        ({"retinue": "1"}, "retinue"), ({"retinue": 1, "roles": {}}, "roles"),
        ({"retinue": 1, "agents": []}, "agents"), ({"retinue": 1, "agents": {"x": None}}, "agents.x"),
        ({"retinue": 1, "agents": {"": {"primary_model": "m", "system_prompt": "p"}}}, "agents/''"),
        ({"retinue": 1, "webhooks": {"x\ny": {"url": "https://a.example", "events": ["*"]}}}, "webhooks/'x"),
        ({"retinue": 1, "budgets": {"x": {"limit_usd": "many"}}}, "budgets.x.limit_usd"),
        ("retinue: 1\nagents: !!python/object:os.system {}\n", None),
        ("retinue: 1\n---\nretinue: 1\n", "document"), ("\x00", "body"),
    ],
)  # fmt: skip
async def test_a_hostile_document_is_refused_with_its_place(api, document, place):
    answer = await plan(api, document)
    if place is None:
        assert answer.json()["changes"] == []  # a tag is no more than a word
        return
    assert answer.status == 422, answer
    assert any(path.startswith(place) for path in answer.details), answer.details


async def test_a_document_of_more_than_the_limit_is_not_read(api):
    answer = await api.post(f"{PATH}/plan", content=b'{"document": "' + b"x" * (8 * 1024 * 1024) + b'"}')
    assert (answer.status, answer.code) == (413, "payload_too_large")


async def test_names_that_differ_only_in_case(api):
    agent = {"primary_model": "local/any", "system_prompt": "x"}
    answer = await plan(api, {"retinue": 1, "agents": {"Desk": agent, "desk": agent, "DESK": agent}})
    assert [change["name"] for change in answer.json()["changes"]] == ["DESK", "Desk", "desk"]
    columns = [{"name": "Mail", "type": "text"}, {"name": "mail", "type": "text"}]
    table = {"name": "T", "columns": columns}
    answer = await plan(api, {"retinue": 1, "data_tables": {"t": table, "T": table}})
    assert (answer.status, list(answer.details)) == (422, ["data_tables/T: slug"])


@pytest.mark.parametrize("query", [{"sections": "robots"}, {"sections": "agents,roles"}, {"format": "xml"}])
async def test_an_export_of_what_there_is_not(api, query):
    answer = await api.get(f"{PATH}/export", query=query)
    assert answer.status == 422
