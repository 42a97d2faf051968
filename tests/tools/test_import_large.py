"""A few operations of a very large API description: only they count, and nobody waits for the rest."""

import asyncio
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from retinue.adapters.openapi import parse_api
from retinue.adapters.openapi.excerpt import make_excerpt
from tests.adapters.llm_server import ProviderServer, provider_server
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.agents import attach_tool, make_agent
from tests.factories.providers import add_key_for
from tests.tools.large_api import large_api

pytestmark = pytest.mark.either_database

Json = dict[str, Any]
WANTED = ["things/0-get", "things/7-post", "things_239_delete"]
NAMES = ["things_0_get", "things_7_post", "things_239_delete"]


@pytest.fixture(scope="module")
def document() -> Json:
    """About twelve megabytes as JSON."""
    return large_api()


async def import_document(api: Api, document: object, *, dry_run: bool = True, **body: Any) -> Any:
    return await api.post(
        f"/v1/tools/import/openapi?dry_run={str(dry_run).lower()}", {"document": document, **body}
    )


@pytest.mark.parametrize("form", ["object", "json", "yaml"])
async def test_three_of_1200_operations_are_imported(admin: Api, document: Json, form: str) -> None:
    if form == "yaml":
        # Without its examples, so that writing the text does not take a minute.
        sent: object = yaml.dump(large_api(examples=0), Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    else:
        sent = document if form == "object" else json.dumps(document, indent=1)
    answer = await import_document(admin, sent, operations=WANTED)
    assert answer.status == 200, answer
    preview = answer.json()["data"]
    assert sorted(one["name"] for one in preview["endpoints"]) == sorted(NAMES)
    assert preview["config"]["base_url"] == "https://things.example.com"
    # Examples are left out, but not a property of that name.
    (made,) = [one for one in preview["endpoints"] if one["name"] == "things_7_post"]
    assert set(made["input_schema"]["properties"]) == {"name", "parent", "next", "example"}


def referring_api() -> Json:
    """A document with names that look like extensions, and with references into parts of operations."""
    text = {"type": "string"}
    query = {"name": "q", "in": "query", "required": True, "schema": text}
    answers = {"200": {"description": "Done"}}
    schema = {
        "type": "object",
        "required": ["z"],
        "properties": {"b": {"type": "object", "properties": {"tags": text}}, "z": text},
    }
    body = [{"$ref": "#/components/schemas/A/properties/b"}, {"$ref": "#/components/schemas/A"}]
    content = {
        "application/json": {"schema": {"type": "object", "properties": dict(zip("xy", body, strict=True))}}
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Odd", "version": "1"},
        "servers": [{"url": "https://{tags}.example.com", "variables": {"tags": {"default": "odd"}}}],
        "security": [{"x-api-key": []}],
        "paths": {
            "/a": {"get": {"operationId": "a", "parameters": [query], "responses": answers}},
            "/b": {
                "get": {
                    "operationId": "b",
                    "parameters": [{"$ref": "#/paths/~1a/get/parameters/0"}],
                    "responses": answers,
                },
                "post": {"operationId": "c", "requestBody": {"content": content}, "responses": answers},
            },
        },
        "components": {
            "schemas": {"A": schema},
            "securitySchemes": {"x-api-key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}},
        },
    }


def test_an_excerpt_loses_no_name_and_no_part_that_is_referred_to() -> None:
    document = referring_api()
    excerpt = make_excerpt(document, None)
    assert parse_api(excerpt.document, excerpt.names) == parse_api(document)


async def test_a_document_that_is_no_text_is_refused(admin: Api) -> None:
    for sent in (b'{"document":"\xff"}', b'{"document":{"openapi":"\xff"}}', b'{"document":"\\ud800"}'):
        answer = await admin.post(
            "/v1/tools/import/openapi", content=sent, headers={"content-type": "application/json"}
        )
        assert answer.status in {400, 422}, sent


def test_an_excerpt_gives_the_same_endpoints_as_the_whole(document: Json) -> None:
    chosen = [f"things/{number}-{method}" for number in range(30) for method in ("get", "patch")]
    whole = {**document, "paths": {path: document["paths"][path] for path in list(document["paths"])[:30]}}
    everything = {endpoint.name: endpoint for endpoint in parse_api(whole).endpoints}
    excerpt = make_excerpt(document, chosen)
    endpoints = parse_api(excerpt.document, excerpt.names).endpoints
    assert len(endpoints) == 60
    assert all(everything[endpoint.name] == endpoint for endpoint in endpoints)
    assert len(msgspec.json.encode(excerpt)) < len(msgspec.json.encode(document)) / 20


def test_references_into_lists_and_other_operations_are_kept() -> None:
    reference = {"$ref": "#/paths/~1a~1%7Bid%7D/get/parameters/1"}
    shared = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/a/{id}": {"get": {"operationId": "a", "parameters": [{"name": "q", "in": "query"}, shared]}},
            "/b/{id}": {"get": {"operationId": "b", "parameters": [reference]}},
        },
    }
    excerpt = make_excerpt(document, ["b"])
    (endpoint,) = parse_api(excerpt.document, excerpt.names).endpoints
    assert endpoint.input_schema["required"] == ["id"]


async def test_limits_say_what_was_found_and_count_what_was_chosen(admin: Api, document: Json) -> None:
    all_of_them = await import_document(admin, document)
    assert (all_of_them.status, all_of_them.code) == (422, "validation_error")
    assert all_of_them.details == {
        "document": "has 1200 operations, and a tool at most 1000; "
        "name the ones that you need in `operations`"
    }
    unknown = await import_document(admin, document, operations=["things/0-get", "nothing"])
    assert unknown.details == {"operations.1": "is not in the document"}
    too_large = await import_document(admin, "x" * 17 * 1024**2)
    assert too_large.details == {"document": "has 17.0 MiB, and at most 16 MiB are read"}
    many = [f"things/{number}-post" for number in range(240)]
    large = await import_document(admin, document, operations=many)
    assert large.status == 200, large
    assert (await import_document(admin, 7)).details == {"document": "must be an object or a text"}


async def test_others_are_answered_while_a_large_document_is_read(admin: Api, document: Json) -> None:
    """The text is decoded in another process, so the event loop is never held for long."""
    body = json.dumps(document, indent=1)
    importing = asyncio.create_task(import_document(admin, body, operations=WANTED))
    answered = 0
    while not importing.done():
        assert (await admin.get("/health")).status == 200
        answered += 1
        # The client of the tests may answer without giving the turn to anybody else.
        await asyncio.sleep(0)
    assert (await importing).status == 200
    assert answered > 5


async def test_a_functions_description_does_not_repeat_the_documents(admin: Api, document: Json) -> None:
    async with provider_server() as provider:
        assert isinstance(provider, ProviderServer)
        await add_key_for(admin, provider, models=["test-model"])
        agent = await make_agent(admin, primary_model="openai_compatible/test-model", status="published")
        made = await import_document(admin, document, operations=WANTED, dry_run=False)
        assert made.status == 201, made
        await attach_tool(admin, agent, made.json()["data"])
        provider.says("Hello.")
        await reply_to(admin, agent)
        offered = {one["function"]["name"]: one["function"] for one in provider.last.json["tools"]}
    assert offered["things__things_0_get"]["description"] == "Things: get thing 0"
    assert "whole API" not in json.dumps(offered)


@pytest.mark.slow
async def test_three_operations_of_github_are_imported(admin: Api, tmp_path: Path) -> None:
    text = _github(tmp_path)
    wanted = ["issues/create", "issues/list-for-repo", "repos/get"]
    answer = await import_document(admin, text, operations=wanted)
    assert answer.status == 200, answer
    names = {one["name"] for one in answer.json()["data"]["endpoints"]}
    assert names == {"issues_create", "issues_list_for_repo", "repos_get"}


def _github(folder: Path) -> str:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, which has GitHub's description of its API")
    packed = subprocess.run(
        [npm, "pack", "@octokit/openapi", "--silent"], cwd=folder, capture_output=True, check=False
    )
    if packed.returncode:
        pytest.skip("the package @octokit/openapi cannot be downloaded from here")
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        content = package.extractfile("package/generated/api.github.com.json")
        assert content is not None
        return content.read().decode()
