"""OpenAPI documents that the server fetches from an address."""

import json

import pytest

from tests.client import Api
from tests.tools.servers.rest_api import RestApi

PATH = "/v1/tools/import/openapi"
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Orders"},
    "servers": [{"url": "https://api.example.com"}],
    "paths": {"/a": {"get": {"operationId": "get_a", "responses": {}}}},
}
YAML = b"""openapi: 3.1.0
info: {title: Orders}
servers: [{url: "https://api.example.com"}]
paths: {/a: {get: {operationId: get_a, responses: {}}}}
"""


@pytest.mark.parametrize("content", [json.dumps(DOCUMENT).encode(), YAML], ids=["json", "yaml"])
async def test_a_document_is_fetched_and_imported(admin: Api, remote: RestApi, content: bytes) -> None:
    remote.answers = [(200, {}, content), (200, {}, content)]
    body = {"url": f"{remote.url}/scripted"}
    preview = await admin.post(PATH, body, query={"dry_run": "true"})
    assert (preview.status, preview.json()["data"]["name"]) == (200, "Orders")
    made = await admin.post(PATH, body)
    assert made.status == 201, made
    assert [one["name"] for one in made.json()["data"]["endpoints"]] == ["get_a"]
    assert remote.last.method == "GET"
    assert "Authorization" not in remote.last.headers


@pytest.mark.parametrize(
    "answer",
    [(404, {}, b""), (200, {}, b"\xff\xfe"), (200, {}, b"x" * (16 * 1024 * 1024 + 1))],
    ids=["missing", "no text", "too large"],
)
async def test_what_the_address_gives_wrong_is_said_of_the_url(
    admin: Api, remote: RestApi, answer: tuple[int, dict[str, str], bytes]
) -> None:
    remote.answers = [answer]
    refused = await admin.post(PATH, {"url": f"{remote.url}/scripted"})
    assert (refused.status, list(refused.details)) == (422, ["url"]), refused


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/openapi.json", "http://api.example.com/x", "file:///etc/passwd", "nonsense"],
)
async def test_addresses_that_the_server_may_not_call_are_refused(admin: Api, url: str) -> None:
    refused = await admin.post(PATH, {"url": url})
    assert (refused.status, list(refused.details)) == (422, ["url"]), refused


async def test_it_takes_a_document_or_an_address(admin: Api) -> None:
    for body in ({}, {"url": "https://api.example.com/x", "document": DOCUMENT}):
        refused = await admin.post(PATH, body)
        assert (refused.status, list(refused.details)) == (422, ["document"]), refused
