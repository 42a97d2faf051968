"""`rest_api` tools against a real API on loopback: what is sent where, and what comes back."""

import json
from typing import Any

import pytest

from tests.tools.path_escapes import ESCAPES
from tests.tools.running import Tools
from tests.tools.servers.rest_api import RestApi, scripted_config

pytestmark = pytest.mark.either_database


def api_config(remote: RestApi, **more: Any) -> dict[str, Any]:
    endpoint = {"method": "GET", "path": "/users/{id}"}
    return {"base_url": f"{remote.url}/v1", "endpoints": {"user": endpoint}, **more}


def one_endpoint(remote: RestApi, endpoint: dict[str, Any], **more: Any) -> dict[str, Any]:
    return api_config(remote) | {"endpoints": {"only": endpoint}} | more


async def run_and_read(tools: Tools, config: dict[str, Any], input: dict[str, Any], **more: Any) -> Any:
    done = await tools.run("rest_api", config, input, **more)
    assert done["status"] == "completed", done
    return done["output"]["body"]


async def test_parts_of_the_input_go_where_they_say(tools, remote):
    endpoint = {"method": "put", "path": "/users/{id}/notes/{note}"}
    sent = {
        "endpoint": "only",
        "path_params": {"id": 7, "note": "a b/c"},
        "query": {"expand": ["owner", "tags"], "deep": True, "none": None, "filter": {"a": 1}},
        "body": {"text": "hello"},
        "headers": {"X-Trace": "t-1", "X-Number": 5},
    }
    body = await run_and_read(tools, one_endpoint(remote, endpoint), sent)
    assert body["method"] == "PUT"
    assert body["target"] == (
        "/v1/users/7/notes/a%20b%2Fc?expand=owner&expand=tags&deep=true&filter=%7B%22a%22%3A1%7D"
    )
    assert json.loads(body["body"]) == {"text": "hello"}
    assert body["headers"]["content-type"] == "application/json"
    assert (body["headers"]["x-trace"], body["headers"]["x-number"]) == ("t-1", "5")


@pytest.mark.parametrize(
    ("method", "target", "sent"),
    [
        ("GET", "/v1/users/7?limit=3&tag=a&tag=b", ""),
        ("DELETE", "/v1/users/7?limit=3&tag=a&tag=b", ""),
        ("POST", "/v1/users/7", '{"limit":3,"tag":["a","b"]}'),
        ("PUT", "/v1/users/7", '{"limit":3,"tag":["a","b"]}'),
    ],
)
async def test_flat_input_fills_the_path_first_then_query_or_body(tools, remote, method, target, sent):
    config = one_endpoint(remote, {"method": method, "path": "/users/{id}"})
    body = await run_and_read(tools, config, {"id": 7, "limit": 3, "tag": ["a", "b"]})
    assert (body["method"], body["target"], body["body"]) == (method, target, sent)


async def test_flat_input_may_use_the_names_of_the_places(tools, remote):
    search = one_endpoint(remote, {"path": "/search"})
    assert (await run_and_read(tools, search, {"query": "cats"}))["target"] == "/v1/search?query=cats"
    issue = one_endpoint(remote, {"method": "POST", "path": "/issues"})
    body = await run_and_read(tools, issue, {"title": "It broke", "body": "badly"})
    assert json.loads(body["body"]) == {"title": "It broke", "body": "badly"}


async def test_defaults_lie_below_the_input(tools, remote):
    endpoint = {
        "method": "GET",
        "path": "/{area}/list",
        "default_params": {"area": "users", "page": 1, "sort": "name"},
        "default_headers": {"X-Mode": "default", "x-kept": "yes", "X-Version": 2},
    }
    config = one_endpoint(remote, endpoint)
    body = await run_and_read(tools, config, {})
    assert body["target"] == "/v1/users/list?page=1&sort=name"
    assert [body["headers"][name] for name in ("x-mode", "x-kept", "x-version")] == ["default", "yes", "2"]
    body = await run_and_read(tools, config, {"area": "teams", "page": 2})
    assert body["target"] == "/v1/teams/list?page=2&sort=name"
    places = {"path_params": {"area": "x"}, "query": {"sort": "age"}, "headers": {"x-mode": "mine"}}
    body = await run_and_read(tools, config, places)
    assert body["target"] == "/v1/x/list?page=1&sort=age"
    assert (body["headers"]["x-mode"], body["headers"]["x-kept"]) == ("mine", "yes")


async def test_defaults_of_a_post_lie_below_its_body(tools, remote):
    config = one_endpoint(remote, {"method": "POST", "path": "/x", "default_params": {"a": 1, "b": 2}})
    body = await run_and_read(tools, config, {"body": {"b": 3}})
    assert json.loads(body["body"]) == {"a": 1, "b": 3}
    body = await run_and_read(tools, config, {"body": [1, 2]})
    assert json.loads(body["body"]) == [1, 2]


async def test_the_content_type_says_how_a_body_is_written(tools, remote):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    config = one_endpoint(remote, {"method": "POST", "path": "/x", "default_headers": form})
    assert (await run_and_read(tools, config, {"a": "b c", "n": [1, 2]}))["body"] == "a=b+c&n=1&n=2"
    body = await run_and_read(tools, config, {"body": "<x/>", "headers": {"content-type": "text/xml"}})
    assert (body["body"], body["headers"]["content-type"]) == ("<x/>", "text/xml")


async def test_an_endpoint_must_be_named_where_there_are_several(tools, remote):
    config = api_config(remote)
    config["endpoints"]["list"] = {"path": "/users"}
    assert (await run_and_read(tools, config, {"endpoint": "list"}))["target"] == "/v1/users"
    for given in ({}, {"endpoint": "nothing"}, {"endpoint": 1}):
        assert await tools.refused("rest_api", config, given) == {
            "input.endpoint": "must be one of list, user"
        }
    assert len(remote.seen) == 1


@pytest.mark.parametrize("value", [None, "", {}, [], {"a": 1}, ".", ".."])
async def test_a_path_parameter_that_is_no_segment_is_refused_before_anything_is_sent(tools, remote, value):
    details = await tools.refused("rest_api", api_config(remote), {"path_params": {"id": value}})
    assert next(iter(details)).startswith("input.path_params")
    details = await tools.refused("rest_api", api_config(remote), {"id": value, "flat": True})
    assert next(iter(details)) in {"input.id", "input"}
    assert remote.seen == []


async def test_two_parameters_cannot_make_a_step_together(tools, remote):
    config = one_endpoint(remote, {"path": "/files/{a}{b}/x"})
    details = await tools.refused("rest_api", config, {"a": ".", "b": "."})
    assert details == {"input": "must not make a path segment . or .."}
    assert (await run_and_read(tools, config, {"a": ".", "b": "git"}))["target"] == "/v1/files/.git/x"


@pytest.mark.parametrize("value", ESCAPES)
async def test_a_path_parameter_never_leaves_its_segment(tools, remote, value):
    body = await run_and_read(tools, api_config(remote), {"path_params": {"id": value}})
    before, segment = body["target"].rsplit("/", 1)
    assert before == "/v1/users"
    assert not set(segment) & set("/?#&@:;\\ \r\n\0{}")
    assert body["headers"]["host"] == remote.url.removeprefix("http://")
    assert len(remote.seen) == 1


async def test_a_parameter_of_a_megabyte_is_refused(tools, remote):
    config = api_config(remote)
    details = await tools.refused("rest_api", config, {"path_params": {"id": "x" * 1_000_000}})
    assert details == {"input.path_params.id": "is longer than 8192 characters"}
    details = await tools.refused("rest_api", config, {"id": "x", "more": "x" * 900_000})
    assert details == {"input": "makes a URL longer than 8192 characters"}
    assert remote.seen == []


@pytest.mark.parametrize(
    "path", ["//evil.example/x", "@evil.example", ":1/x", "\\evil", "https://evil.example/"]
)
async def test_the_path_of_an_endpoint_cannot_lead_elsewhere(tools, remote, path):
    done = await tools.run("rest_api", one_endpoint(remote, {"path": path}))
    if done["status"] == "completed":
        assert done["output"]["body"]["headers"]["host"] == remote.url.removeprefix("http://")
    else:
        assert done["error"]["code"] == "ssrf_blocked"
    assert all(seen.target.startswith("/v1/") for seen in remote.seen)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Content-Length": "0"},
        {"transfer-encoding": "chunked"},
        {"X-A": "b\r\nX-C: d"},
        {"X-Service-Signature": "x"},
        {"a b": "c"},
        {"": "c"},
        {"X-A": ["b"]},
    ],
)
async def test_headers_of_the_input_cannot_change_the_message(tools, remote, headers):
    details = await tools.refused(
        "rest_api", api_config(remote), {"path_params": {"id": 1}, "headers": headers}
    )
    assert next(iter(details)).startswith("input.headers")
    assert remote.seen == []


async def test_the_input_cannot_replace_what_lets_the_tool_in(tools, remote):
    key = {"auth_type": "api_key", "auth_config": {"api_key_value": "sk-4711-secret"}}
    for name in ("x-api-key", "X-API-KEY", "authorization"):
        given = {"path_params": {"id": 1}, "headers": {name: "mine"}}
        details = await tools.refused("rest_api", api_config(remote), given, **key)
        assert details == {f"input.headers.{name}": "is set by the tool itself"}
    key["auth_config"] |= {"api_key_location": "query", "api_key_header": "key"}
    await tools.run(
        "rest_api", api_config(remote), {"path_params": {"id": 1}, "query": {"key": "mine"}}, **key
    )
    assert remote.last.target == "/v1/users/1?key=sk-4711-secret"
    body = await run_and_read(
        tools, api_config(remote), {"path_params": {"id": 1}, "headers": {"Authorization": "a"}}
    )
    assert body["headers"]["authorization"] == "a"


async def test_the_input_cannot_name_another_destination(tools, remote):
    given = {"id": 1, "base_url": "http://127.0.0.9:1", "url": "http://127.0.0.9:1", "host": "evil.example"}
    body = await run_and_read(tools, api_config(remote), given)
    assert body["target"].startswith("/v1/users/1?base_url=http%3A%2F%2F127.0.0.9")


@pytest.mark.parametrize(
    ("content_type", "content", "body"),
    [
        ("application/json", b'{"a": [1, null]}', {"a": [1, None]}),
        ("application/problem+json; charset=utf-8", b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ("application/json", b"{broken", "{broken"),
        ("application/json", b"[" * 100_000, "[" * 100_000),
        ("application/json", b"", None),
        ("", b"[1]", [1]),
        ("text/plain", b"[1]", "[1]"),
        ("text/plain; charset=ISO-8859-1", b"Gr\xfc\xdfe", "Grüße"),
        ('text/plain; charset="windows-1252"', b"\x80", "€"),
        ("text/plain; charset=punycode", b"a-b", "a-b"),
        ("text/plain; charset=unicode_escape", b"\\u0041", "\\u0041"),
        ("text/plain", b"\xff", "\ufffd"),
    ],
)
async def test_an_answer_becomes_a_value_by_its_type(tools, remote, content_type, content, body):
    remote.answers = [(200, {"Content-Type": content_type}, content)]
    done = await tools.run("rest_api", scripted_config(remote))
    assert done["output"]["body"] == body


async def test_only_two_headers_of_an_answer_are_shown(tools, remote):
    headers = {"Content-Type": "text/plain", "Retry-After": "9", "Set-Cookie": "a=b", "X-Internal": "1"}
    remote.answers = [(201, headers, b"made")]
    done = await tools.run("rest_api", scripted_config(remote))
    shown = {"content-type": "text/plain", "retry-after": "9"}
    assert done["output"] == {"status_code": 201, "headers": shown, "body": "made"}


@pytest.mark.parametrize("status", [301, 302, 400, 401, 403, 404, 409, 500, 501])
async def test_an_answer_that_is_no_success_fails_the_run_and_is_kept(tools, remote, status):
    remote.answers = [(status, {"Content-Type": "application/json", "Location": "/x"}, b'{"why": "so"}')]
    done = await tools.run("rest_api", scripted_config(remote, retry_count=3))
    assert (done["status"], done["attempts"], len(remote.seen)) == ("failed", 1, 1)
    assert done["error"]["code"] == "http_error"
    assert done["error"]["details"]["status_code"] == status
    assert done["error"]["details"]["body"] == {"why": "so"}
