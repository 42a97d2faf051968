"""`webhook` tools: the input goes to one URL, as its JSON body or as its query."""

import json

import pytest

pytestmark = pytest.mark.either_database


@pytest.mark.parametrize("method", [None, "POST", "put", "PATCH", "DELETE"])
async def test_the_input_is_the_json_body(tools, remote, method):
    config = {"url": f"{remote.url}/hook?team=7", "headers": {"X-Source": "retinue", "X-Level": 3}}
    if method:
        config["method"] = method
    done = await tools.run("webhook", config, {"text": "Grüße", "list": [1, None]})
    body = done["output"]["body"]
    assert (body["method"], body["target"]) == ((method or "POST").upper(), "/hook?team=7")
    assert json.loads(body["body"]) == {"text": "Grüße", "list": [1, None]}
    assert body["headers"]["content-type"] == "application/json"
    assert (body["headers"]["x-source"], body["headers"]["x-level"]) == ("retinue", "3")


async def test_the_input_of_a_get_is_its_query(tools, remote):
    config = {"url": f"{remote.url}/hook?team=7", "method": "GET"}
    done = await tools.run("webhook", config, {"q": "a&b=c#d", "tag": ["x", "y"], "none": None})
    body = done["output"]["body"]
    assert body["target"] == "/hook?team=7&q=a%26b%3Dc%23d&tag=x&tag=y"
    assert (body["body"], "content-type" in body["headers"]) == ("", False)


async def test_empty_input_is_an_empty_object(tools, remote):
    done = await tools.run("webhook", {"url": f"{remote.url}/hook"})
    assert done["output"]["body"]["body"] == "{}"


async def test_the_answer_is_that_of_a_rest_api(tools, remote):
    config = {"url": f"{remote.url}/scripted"}
    remote.answers = [(202, {"Content-Type": "text/plain", "X-More": "1"}, b"taken")]
    done = await tools.run("webhook", config)
    assert done["output"] == {"status_code": 202, "headers": {"content-type": "text/plain"}, "body": "taken"}
    remote.answers = [(500, {}, b"broken")]
    done = await tools.run("webhook", config)
    assert (done["status"], done["error"]["code"]) == ("failed", "http_error")
    assert done["error"]["details"]["status_code"] == 500


async def test_a_webhook_without_a_url_is_not_configured(tools):
    done = await tools.run("webhook", {"method": "POST"})
    assert done["error"] == {"code": "not_configured", "message": "config.url is required."}


async def test_the_input_cannot_change_where_a_webhook_goes(tools, remote):
    given = {"url": "http://127.0.0.9:1/", "method": "DELETE", "headers": {"Host": "evil.example"}}
    done = await tools.run("webhook", {"url": f"{remote.url}/hook"}, given)
    body = done["output"]["body"]
    assert (body["method"], body["headers"]["host"]) == ("POST", remote.url.removeprefix("http://"))
    assert json.loads(body["body"]) == given


async def test_a_call_tells_how_far_its_chain_has_come(tools, remote):
    config = {"url": f"{remote.url}/hook", "headers": {"X-Source": "retinue"}}
    done = await tools.run("webhook", config)
    assert done["output"]["body"]["headers"]["x-service-hops"] == "1"
