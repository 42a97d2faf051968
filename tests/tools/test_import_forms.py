"""Documents whose bodies are forms become tools whose calls arrive decoded at a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from tests.factories.api_documents import chat_api, payment_api, phone_api
from tests.factories.tools import run_tool

pytestmark = pytest.mark.either_database


@dataclass
class FormServer:
    """Decodes queries and forms with aiohttp's own parsers; files arrive as (filename, type, content)."""

    url: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> dict[str, Any]:
        return self.seen[-1]

    async def answer(self, request: web.Request) -> web.Response:
        form = [
            (
                name,
                (value.filename, value.content_type, value.file.read()) if hasattr(value, "file") else value,
            )
            for name, value in (await request.post()).items()
        ]
        self.seen.append(
            {
                "method": request.method,
                "path": request.path,
                "query": list(request.query.items()),
                "form": form,
                "type": request.content_type,
                "headers": dict(request.headers),
            }
        )
        return web.json_response({"ok": True})


@asynccontextmanager
async def form_server() -> AsyncIterator[FormServer]:
    server = FormServer()
    runner = web.ServerRunner(web.Server(server.answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


@pytest.fixture
async def forms() -> AsyncIterator[FormServer]:
    async with form_server() as server:
        yield server


async def import_document(api, document, **body) -> dict[str, Any]:
    answer = await api.post("/v1/tools/import/openapi", {"document": document, **body})
    assert answer.status == 201, answer
    return answer.json()["data"]


def schemas(tool) -> dict[str, Any]:
    return {endpoint["name"]: endpoint["input_schema"] for endpoint in tool["endpoints"]}


async def test_a_chat_api_takes_its_token_from_the_authentication(admin, forms) -> None:
    tool = await import_document(admin, chat_api(forms.url), auth_config={"token": "xoxb-4711"})
    assert len(tool["endpoints"]) == 6
    assert tool["skipped"] == []
    assert schemas(tool)["chat_post"]["required"] == ["channel"]
    assert "token" not in str(schemas(tool))
    await run_tool(admin, tool, {"endpoint": "chat_post", "channel": "C1", "text": "Hello"})
    assert forms.last["headers"]["Authorization"] == "Bearer xoxb-4711"


async def test_a_chat_api_takes_form_fields(admin, forms) -> None:
    tool = await import_document(admin, chat_api(forms.url), auth_config={"token": "xoxb-4711"})
    await run_tool(admin, tool, {"endpoint": "chat_post", "channel": "C1", "text": "Grüße & more=1"})
    assert forms.last["form"] == [("channel", "C1"), ("text", "Grüße & more=1")]
    assert forms.last["type"] == "application/x-www-form-urlencoded"
    await run_tool(admin, tool, {"endpoint": "views_invite", "users": ["U1", "U2"]})
    assert forms.last["form"] == [("users", "U1,U2")]
    await run_tool(admin, tool, {"endpoint": "chat_list", "types": ["im", "mpim"]})
    assert forms.last["query"] == [("types", "im,mpim")]
    await run_tool(admin, tool, {"endpoint": "chat_delete", "ts": 1.5, "as_user": True})
    assert forms.last["form"] == [("ts", "1.5"), ("as_user", "true")]


async def test_a_file_is_sent_as_a_part_of_a_multipart_form(admin, forms) -> None:
    tool = await import_document(admin, chat_api(forms.url), operations=["files_upload"], auth_type="none")
    document = {"filename": 'a"b\r\nX: y.csv', "content_type": "text/csv", "text": "a,b\n1,2\n"}
    await run_tool(admin, tool, {"file": document, "title": "Numbers"})
    ((name, (filename, media_type, content)), title) = forms.last["form"]
    assert (name, media_type, content) == ("file", "text/csv", b"a,b\n1,2\n")
    assert "\n" not in filename
    assert "X" not in forms.last["headers"]
    assert title == ("title", "Numbers")
    await run_tool(admin, tool, {"file": {"filename": "x.bin", "base64": "AAEC/w=="}})
    assert forms.last["form"] == [("file", ("x.bin", "application/octet-stream", b"\x00\x01\x02\xff"))]


async def test_a_payment_api_takes_nested_objects_in_brackets(admin, forms) -> None:
    tool = await import_document(admin, payment_api(forms.url), auth_config={"token": "sk-4711"})
    assert len(tool["endpoints"]) == 6

    lines = [{"price": "p1", "quantity": 2, "discounts": [{"coupon": "c"}]}, {"price": "p2"}]
    await run_tool(
        admin,
        tool,
        {"endpoint": "post_subscriptions", "customer": "cus_1", "items": lines, "expand": ["a", "b"]},
    )
    assert forms.last["form"] == [
        ("customer", "cus_1"),
        ("items[0][price]", "p1"),
        ("items[0][quantity]", "2"),
        ("items[0][discounts][0][coupon]", "c"),
        ("items[1][price]", "p2"),
        ("expand[0]", "a"),
        ("expand[1]", "b"),
    ]
    values = {"customer": "cus_1", "address": {"city": "Rome", "line1": None}, "metadata": {"k": "v w"}}
    await run_tool(admin, tool, {"endpoint": "post_customer", **values})
    assert forms.last["path"] == "/v1/customers/cus_1"
    assert forms.last["form"] == [("address[city]", "Rome"), ("metadata[k]", "v w")]

    await run_tool(
        admin, tool, {"endpoint": "get_customers", "created": {"gte": 5}, "expand": ["x"], "limit": 3}
    )
    assert forms.last["query"] == [("created[gte]", "5"), ("expand[0]", "x"), ("limit", "3")]
    await run_tool(admin, tool, {"endpoint": "get_customers", "created": 5})
    assert forms.last["query"] == [("created", "5")]
    await run_tool(admin, tool, {"endpoint": "delete_customer", "customer": "cus_1"})
    assert (forms.last["method"], forms.last["form"]) == ("DELETE", [])

    upload = {"filename": "a.txt", "text": "hello"}
    await run_tool(
        admin, tool, {"endpoint": "post_files", "file": upload, "purpose": "x", "link": {"create": True}}
    )
    assert forms.last["type"] == "multipart/form-data"
    assert sorted(forms.last["form"]) == [
        ("file", ("a.txt", "text/plain", b"hello")),
        ("link[create]", "true"),
        ("purpose", "x"),
    ]


async def test_a_phone_api_repeats_fields_and_asks_for_its_headers(admin, forms) -> None:
    tool = await import_document(
        admin, phone_api(forms.url), auth_config={"username": "AC1", "password": "secret-4711"}
    )
    assert len(tool["endpoints"]) == 4
    assert tool["skipped"] == []
    urls = ["https://a.example/1", "https://a.example/2"]
    sent = {"AccountSid": "AC1", "To": "+1", "MediaUrl": urls, "ContentVariables": {"1": "x"}}
    await run_tool(admin, tool, {"endpoint": "create_message", **sent})
    assert forms.last["path"] == "/2010-04-01/Accounts/AC1/Messages.json"
    assert forms.last["form"] == [
        ("To", "+1"),
        ("MediaUrl", urls[0]),
        ("MediaUrl", urls[1]),
        ("ContentVariables", '{"1":"x"}'),
    ]

    asked = schemas(tool)["update_message"]
    assert asked["required"] == ["path_params", "headers", "body"]
    assert asked["properties"]["headers"]["required"] == ["If-Match"]
    assert asked["properties"]["headers"]["additionalProperties"] is False
    where = {"path_params": {"AccountSid": "AC1", "Sid": "SM1"}, "body": {"Status": "canceled"}}
    await run_tool(admin, tool, {"endpoint": "update_message", "headers": {"If-Match": '"v1"'}, **where})
    assert forms.last["headers"]["If-Match"] == '"v1"'
    assert forms.last["form"] == [("Status", "canceled")]


@pytest.mark.parametrize(
    ("input", "field"),
    [
        ({"body": "text"}, "input.body"),
        ({"metadata": {"k" * 3000: ["v"] * 4000}}, "input"),
        ({"address": "deep"}, "input.address"),
    ],
)
async def test_input_that_makes_no_form_is_refused(admin, forms, input, field) -> None:
    tool = await import_document(admin, payment_api(forms.url), auth_type="none")
    if "address" in input:
        nested: Any = "x"
        for _ in range(40):
            nested = {"a": nested}
        input = {"address": nested}
    answer = await admin.post(
        f"/v1/tools/{tool['id']}/execute", {"input": {"endpoint": "post_customers", **input}}
    )
    assert (answer.status, list(answer.details)) == (422, [field])
    assert forms.seen == []


@pytest.mark.parametrize(
    ("file", "field"),
    [
        ("a.txt", "input.file"),
        ({"filename": "a", "text": "a", "base64": "YQ=="}, "input.file"),
        ({"filename": "a", "base64": "not base64"}, "input.file.base64"),
        ({"filename": "a", "text": "a", "content_type": "text/x\r\nX: y"}, "input.file.content_type"),
    ],
)
async def test_a_file_without_proper_content_is_refused(admin, forms, file, field) -> None:
    tool = await import_document(admin, payment_api(forms.url), auth_type="none")
    sent = {"input": {"endpoint": "post_files", "file": file}}
    answer = await admin.post(f"/v1/tools/{tool['id']}/execute", sent)
    assert (answer.status, list(answer.details)) == (422, [field])


async def test_a_patch_is_imported_and_sent(admin, forms) -> None:
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"a": {}}}}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "A"},
        "servers": [{"url": forms.url}],
        "paths": {"/x/{id}": {"patch": {"operationId": "change", "requestBody": body}}},
    }
    tool = await import_document(admin, document)
    await run_tool(admin, tool, {"id": "7", "a": 1})
    assert (forms.last["method"], forms.last["path"]) == ("PATCH", "/x/7")
