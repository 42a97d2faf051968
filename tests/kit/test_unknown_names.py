"""Names that have no effect: found at any depth with declared fields, never in free objects."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from retinue.access.models import Role
from retinue.kit.schema.unknown_keys import (
    declares_path,
    find_unknown_keys,
    find_unknown_keys_by_schema,
    json_finder_for,
)
from tests.factories.agents import agent_body, make_agent
from tests.factories.machines import make_account, make_secret, token_of

STRICT = {"Prefer": "handling=strict"}


class Cat(msgspec.Struct, tag="cat"):
    lives: int = 9


class Dog(msgspec.Struct, tag="dog"):
    name: str = ""
    friends: "list[Dog]" = []


class House(msgspec.Struct, rename={"kind": "type"}):
    kind: Literal["tent", "villa"] = "tent"
    pets: list[Cat | Dog] = []
    rooms: dict[str, Annotated[Dog, Meta(description="Who sleeps there.")] | None] = {}
    owner: Dog | str | list[Cat] | None = None
    metadata: dict[str, Any] = {}
    anything: Any = None


@pytest.mark.parametrize(
    ("sent", "unknown"),
    [
        ({"type": "villa", "metadata": {"a": 1}, "anything": {"b": [{"c": 1}]}}, []),
        ({"kind": "villa", "x": 1}, ["kind", "x"]),
        ({"pets": [{"type": "cat", "lives": 1}, {"type": "dog", "lives": 1}]}, ["pets.1.lives"]),
        ({"pets": [{"type": "dog", "friends": [{"type": "dog", "x": 1}]}]}, ["pets.0.friends.0.x"]),
        ({"rooms": {"red": {"type": "dog", "x": 1}, "blue": None}}, ["rooms.red.x"]),
        ({"owner": {"type": "dog", "y": 1}}, ["owner.y"]),
        ({"owner": [{"type": "cat", "y": 1}]}, ["owner.0.y"]),
        ({"owner": "Ada"}, []),
        ({"n" * 100: 1}, ["n" * 64]),
        ({f"k{number:02}": 1 for number in range(30)}, [f"k{number:02}" for number in range(20)]),
    ],
)
def test_unknown_names_are_found_where_fields_are_declared(sent, unknown) -> None:
    assert list(json_finder_for(House)(msgspec.json.encode(sent))) == unknown
    assert find_unknown_keys(sent, House) == unknown


@pytest.mark.parametrize(
    ("path", "is_declared"),
    [
        ("type", True),
        ("kind", False),
        ("pets.0.lives", True),
        ("pets.0.age", False),
        ("rooms.red.friends.3.name", True),
        ("rooms.red", False),
        ("metadata", True),
        ("metadata.a", False),
        ("anything.a", False),
    ],
)
def test_a_type_declares_the_paths_of_its_fields(path, is_declared) -> None:
    assert declares_path(House, path) is is_declared


def test_a_json_schema_declares_the_properties_that_it_lists() -> None:
    inner = {"type": "object", "properties": {"a": {}}}
    properties = {"one": inner, "many": {"items": inner}, "free": {"type": "object"}}
    schema = {"type": "object", "properties": properties}
    sent = {"one": {"a": {"x": 1}, "b": 1}, "many": [{"c": 1}, "{{text}}"], "free": {"d": 1}, "e": 1}
    found = find_unknown_keys_by_schema(sent, schema, "config")
    assert found == ["config.one.b", "config.many.0.c", "config.e"]


@pytest.mark.parametrize(
    ("preference", "is_strict"),
    [
        ("handling=strict", True),
        ('respond-async, Handling="Strict"; wait=1', True),
        ("handling=lenient", False),
        ("handling=lenient, handling=strict", False),
        ("strict", False),
    ],
)
async def test_a_preference_is_read_as_rfc_7240_has_it(admin, preference, is_strict) -> None:
    answer = await admin.post("/api/v1/agents", agent_body(tools=[]), headers={"Prefer": preference})
    assert answer.status == (422 if is_strict else 201)
    assert ("preference-applied" in answer.headers) is is_strict


async def test_what_was_read_may_be_sent_back_but_not_with_another_value(admin) -> None:
    agent = await make_agent(admin)
    shown = (await admin.get(f"/api/v1/agents/{agent['id']}")).json()
    read_only = {"sub_agents": shown["sub_agents"], "id": "agt_other", "updated_at": "x"}
    changed = await admin.put(f"/api/v1/agents/{agent['id']}", {**read_only, "published_at": "2020-01-01"})
    assert changed.json()["warnings"] == ["ignored_field:sub_agents", "ignored_field:published_at"]
    same = await admin.put(f"/api/v1/agents/{agent['id']}", {"id": agent["id"], "published_at": None})
    assert "warnings" not in same.json()
    body = {"id": agent["id"], "name": "N"}
    strict = await admin.put(f"/api/v1/agents/{agent['id']}", body, headers=STRICT)
    assert strict.status == 200
    body = {"published_at": "2020-01-01", "sub_agents": [], "temprature": 1}
    typo = await admin.put(f"/api/v1/agents/{agent['id']}", body, headers=STRICT)
    assert (typo.status, [*typo.details]) == (422, ["temprature"])
    del body["temprature"]
    other = await admin.put(f"/api/v1/agents/{agent['id']}", body, headers=STRICT)
    assert (other.status, other.json()["warnings"]) == (200, [f"ignored_field:{name}" for name in body])
    odd = await admin.put(f"/api/v1/agents/{agent['id']}", {"fallback_models.²": 1})
    assert odd.json()["warnings"] == ["ignored_field:fallback_models.²"]


async def test_query_names_and_lists_are_told_in_a_percent_encoded_header(admin) -> None:
    answer = await admin.get("/api/v1/agents?serach=a&per%20page=2&page=1")
    assert answer.headers["x-retinue-warnings"] == "ignored_field:serach, ignored_field:per%20page"
    refused = await admin.get("/api/v1/agents?serach=a", headers=STRICT)
    assert (refused.status, refused.details) == (422, {"serach": "is not a known parameter"})
    assert "x-retinue-warnings" not in (await admin.get("/api/v1/agents?page=1")).headers
    many = await admin.get("/api/v1/agents?" + "&".join(f"{'ä' * 60}{number}=1" for number in range(20)))
    assert 1000 < len(many.headers["x-retinue-warnings"]) < 2500, "proxies refuse large headers"


async def test_an_operation_of_a_batch_is_named_by_its_place(admin) -> None:
    wrong = {"op": "create", "data": agent_body(tools=[]), "x": 1}
    operations = [{"op": "create", "data": agent_body()}, wrong]
    body = (await admin.post("/v1/agents/batch", {"operations": operations})).json()
    assert body["warnings"] == ["ignored_field:operations.1.x", "ignored_field:operations.1.data.tools"]
    answer = await admin.post("/v1/agents/batch", {"items": [operations[0]]}, headers=STRICT)
    assert answer.json()["summary"]["succeeded"] == 1


async def test_a_strict_service_account_is_refused_and_others_are_warned(admin) -> None:
    account = await make_account(admin, "agents:read", "agents:write")
    assert account["strict"] is False
    path = f"/api/v1/service-accounts/{account['id']}"
    machine = admin.signed_in(await token_of(admin, await make_secret(admin, account)))
    assert (await machine.post("/api/v1/agents", agent_body(tools=[]))).status == 201
    assert (await admin.patch(path, {"strict": True})).json()["strict"] is True
    refused = await machine.post("/api/v1/agents", agent_body(tools=[]))
    assert (refused.status, refused.details) == (422, {"tools": "is not a known field"})
    assert (await machine.get("/api/v1/agents?serach=a")).status == 422
    assert (await machine.post("/api/v1/agents", agent_body())).status == 201


async def test_a_repeated_request_has_the_same_warnings(people) -> None:
    admin = await people.signed_in(Role.tenant_admin)
    headers = {"Idempotency-Key": "one"}
    first, second = [
        await admin.post("/api/v1/agents", agent_body(tools=[]), headers=headers) for _ in range(2)
    ]
    assert first.json() == second.json()
    assert second.json()["warnings"] == ["ignored_field:tools"]
