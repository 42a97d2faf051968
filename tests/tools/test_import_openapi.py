"""An OpenAPI document becomes a tool that really calls the API it describes."""

import json

import pytest
import yaml

from retinue.tools import openapi_import
from retinue.tools.models import Tool
from tests.factories.tools import run_tool, tool_body

pytestmark = pytest.mark.either_database

PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pet Store", "version": "1", "description": "Sells pets."},
    "paths": {
        "/pets/{petId}": {
            "get": {
                "operationId": "getPet",
                "summary": "One pet",
                "parameters": [
                    {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "fields", "in": "query", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "ok"}},
            },
            "head": {"operationId": "headPet", "responses": {}},
        },
        "/pets": {
            "post": {
                "operationId": "addPet",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {"name": {"type": "string"}},
                            }
                        }
                    },
                },
                "responses": {"201": {"description": "made"}},
            }
        },
    },
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Pet-Key"}}},
    "security": [{"key": []}],
}


def pets(url: str | None) -> dict:
    return {**PETS, "servers": [{"url": url}]} if url else PETS


async def import_document(api, status=201, *, dry_run=False, **body):
    answer = await api.post(f"/v1/tools/import/openapi?dry_run={str(dry_run).lower()}", body)
    assert answer.status == status, answer
    return answer.json()["data"] if status < 300 else answer.details


async def count_tools(people, api) -> int:
    async with people.context(api.user.tenant_id) as ctx:
        return await ctx.db.count(Tool)


@pytest.mark.parametrize("written", ["object", "json", "yaml", "large_yaml"])
async def test_a_document_becomes_one_tool_with_an_endpoint_for_each_operation(
    admin, remote, written
) -> None:
    document = pets(remote.url)
    as_yaml = yaml.safe_dump(document)
    shown = {
        "object": document,
        "json": json.dumps(document),
        "yaml": as_yaml,
        "large_yaml": "#" * 600_000 + "\n" + as_yaml,
    }[written]
    tool = await import_document(admin, document=shown, auth_config={"api_key_value": "pets-4711"})
    assert (tool["name"], tool["slug"], tool["description"]) == ("Pet Store", "pet-store", "Sells pets.")
    assert (tool["tool_type"], tool["category"], tool["auth_type"]) == ("rest_api", "custom", "api_key")
    assert {endpoint["name"] for endpoint in tool["endpoints"]} == {"get_pet", "add_pet"}
    assert [part["what"] for part in tool["skipped"]] == ["HEAD /pets/{petId}"]
    assert "config" not in tool

    ended = await run_tool(admin, tool, {"endpoint": "get_pet", "petId": 7, "fields": "name"})
    assert ended["output"]["body"]["target"] == "/pets/7?fields=name"
    assert remote.last.headers["X-Pet-Key"] == "pets-4711"
    await run_tool(admin, tool, {"endpoint": "add_pet", "name": "Rex"})
    assert (remote.last.method, remote.last.body) == ("POST", b'{"name":"Rex"}')


async def test_a_dry_run_shows_the_tool_and_stores_nothing(admin, people) -> None:
    shown = await import_document(
        admin,
        200,
        dry_run=True,
        document=pets("https://pets.example.com/v1"),
        auth_config={"api_key_value": "pets-4711"},
    )
    assert (shown["name"], shown["slug"], shown["auth_type"]) == ("Pet Store", "pet-store", "api_key")
    assert shown["auth_config"] == {"api_key_header": "X-Pet-Key", "api_key_location": "header"}
    assert shown["config"]["base_url"] == "https://pets.example.com/v1"
    assert shown["config"]["endpoints"]["get_pet"]["path"] == "/pets/{petId}"
    assert len(shown["endpoints"]) == 2
    assert "pets-4711" not in json.dumps(shown)
    assert await count_tools(people, admin) == 0


async def test_operations_are_chosen_by_the_name_of_the_endpoint_or_of_the_document(admin) -> None:
    document = pets("https://pets.example.com")
    tool = await import_document(
        admin, document=document, operations=["addPet", "add_pet"], name="Adder", category="crm"
    )
    assert [endpoint["name"] for endpoint in tool["endpoints"]] == ["add_pet"]
    assert (tool["name"], tool["category"]) == ("Adder", "crm")
    assert tool["input_schema"]["required"] == ["name"]
    refused = await import_document(admin, 422, document=document, operations=["addPet", "sellPet"])
    assert list(refused) == ["operations.1"]


async def test_what_the_caller_says_counts_more_than_the_document(admin, remote) -> None:
    tool = await import_document(
        admin,
        document=pets("https://pets.example.com"),
        base_url=f"{remote.url}/v2",
        auth_type="bearer",
        auth_config={"token": "tok-4711"},
        operations=["get_pet"],
    )
    await run_tool(admin, tool, {"petId": 1})
    assert remote.last.target == "/v2/pets/1"
    assert remote.last.headers["Authorization"] == "Bearer tok-4711"
    assert "X-Pet-Key" not in remote.last.headers


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "document"),
        ({"document": 7}, "document"),
        ({"document": {}}, "document"),
        ({"document": "just: yaml"}, "document"),
        ({"document": "{ not json"}, "document"),
        ({"document": pets(None)}, "base_url"),
        ({"document": pets(None), "base_url": "nowhere"}, "base_url"),
        ({"document": {**pets("https://x.example"), "paths": {}}}, "document"),
        ({"document": pets("https://x.example"), "category": "zoo"}, "category"),
        ({"document": pets("https://x.example"), "operations": [7]}, "operations.0"),
        (
            {"document": pets("https://x.example"), "auth_config": {"api_key_value": 7}},
            "auth_config.api_key_value",
        ),
    ],
)
async def test_what_cannot_be_imported_is_refused_under_its_field(admin, people, body, field) -> None:
    assert list(await import_document(admin, 422, **body)) == [field]
    assert await count_tools(people, admin) == 0


async def test_a_document_may_be_larger_than_other_bodies(admin) -> None:
    document = pets("https://pets.example.com")
    document["x-notes"] = "n" * 2_000_000
    await import_document(admin, 200, dry_run=True, document=json.dumps(document))


async def test_names_that_the_import_writes_are_no_mistake_of_the_caller(admin, monkeypatch) -> None:
    strict = {"Prefer": "handling=strict"}
    body = {"document": pets("https://pets.example")}
    answer = await admin.post("/v1/tools/import/openapi", body, headers=strict)
    assert answer.status == 201, answer
    assert "warnings" not in answer.json()
    config = (await admin.get(f"/v1/tools/{answer.json()['data']['id']}")).json()["data"]["config"]
    assert all("input_schema" in endpoint for endpoint in config["endpoints"].values())
    made = await admin.post("/v1/tools", tool_body(config=config), headers=strict)
    assert made.status == 201, made
    monkeypatch.setattr(openapi_import, "_endpoint", lambda _: {"method": "GET", "of_a_later_version": 1})
    later = await admin.post("/v1/tools/import/openapi", body, headers=strict)
    assert later.status == 201, later
    wrong = {**body, "auth_config": {"tokn": "x"}}
    refused = await admin.post("/v1/tools/import/openapi", wrong, headers=strict)
    assert (refused.status, [*refused.details]) == (422, ["auth_config.tokn"])
