"""Custom tools of kind `http_template`: values are put into a request, and nothing is ever evaluated."""

import json

import pytest

from tests.tools.path_escapes import ESCAPES

pytestmark = pytest.mark.either_database


def template(url, **request):
    return {"kind": "http_template", "request": {"url": url, **request}}


async def run_and_read(tools, config, input=None):
    done = await tools.run("custom", config, input)
    assert done["status"] == "completed", done
    return done["output"]["body"]


async def test_values_fill_every_part_of_a_request(tools, remote):
    config = template(
        f"{remote.url}/teams/{{{{team.id}}}}/search?lang={{{{lang}}}}",
        method="POST",
        headers={"X-Trace": "t-{{ trace }}", "X-Fixed": 1},
        query={"page": "{{page}}", "tags": "{{tags}}", "first": "{{tags.0}}"},
        body={"text": "Hello {{name}}!", "page": "{{page}}", "who": ["{{team}}"], "no": "{name}", "n": 5},
    )
    given = {
        "team": {"id": "a/b"},
        "lang": "d e",
        "trace": 7,
        "page": 2,
        "tags": ["x", "y"],
        "name": 'Ada "Countess" {{lang}}',
    }
    body = await run_and_read(tools, config, given)
    assert body["method"] == "POST"
    assert body["target"] == "/teams/a%2Fb/search?lang=d%20e&page=2&tags=x&tags=y&first=x"
    assert (body["headers"]["x-trace"], body["headers"]["x-fixed"]) == ("t-7", "1")
    assert json.loads(body["body"]) == {
        "text": 'Hello Ada "Countess" {{lang}}!',
        "page": 2,
        "who": [{"id": "a/b"}],
        "no": "{name}",
        "n": 5,
    }


@pytest.mark.parametrize(
    "text",
    [
        "{{7*7}}",
        "${7*7}",
        "<%= 7*7 %>",
        "{{cycler.__init__.__globals__}}",
        "{{ ''.__class__ }}",
        "{0.__class__}",
        "%(x)s",
        "{{x|upper}}",
        "{% for a in b %}",
        "{{}}",
        "{{ }}",
        "{{name.}}",
        "#{7*7}",
    ],
)
async def test_what_looks_like_code_is_sent_as_it_is_written(tools, remote, text):
    given = {"name": "Ada", "x": "1", "value": text}
    body = await run_and_read(tools, template(f"{remote.url}/x", method="POST", body={"text": text}), given)
    assert json.loads(body["body"]) == {"text": text}
    body = await run_and_read(
        tools, template(f"{remote.url}/x", method="POST", body={"t": "a {{value}}"}), given
    )
    assert json.loads(body["body"]) == {"t": f"a {text}"}


@pytest.mark.parametrize("value", ESCAPES)
async def test_a_value_never_leaves_its_place_in_the_url(tools, remote, value):
    config = template(f"{remote.url}/v1/{{{{id}}}}?q={{{{id}}}}")
    target = (await run_and_read(tools, config, {"id": value}))["target"]
    path, query = target.split("?")
    assert path.startswith("/v1/")
    assert path.count("/") == 2
    assert query.startswith("q=")
    assert not set(query[2:]) & set("&#?/\\ \r\n\0")


@pytest.mark.parametrize("value", ["", None, [], {}, ".", ".."])
async def test_a_value_that_is_no_segment_is_refused(tools, remote, value):
    config = template(f"{remote.url}/v1/{{{{id}}}}")
    assert await tools.refused("custom", config, {"id": value})
    assert remote.seen == []


async def test_a_missing_value_is_named(tools, remote):
    config = template(f"{remote.url}/x", body={"text": "{{customer.name}}"})
    for given in ({}, {"customer": {}}, {"customer": "Ada"}, {"customer": []}):
        assert await tools.refused("custom", config, given) == {"input.customer.name": "is required"}
    assert remote.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "http://{{host}}/x",
        "http://127.0.0.1:{{port}}/x",
        "{{url}}",
        "{{scheme}}://127.0.0.1/x",
        "http://api.{{host}}/x",
        "//{{host}}/",
    ],
)
async def test_where_a_template_leads_is_not_for_the_input_to_say(tools, url):
    given = {"host": "127.0.0.1", "port": 80, "url": "http://127.0.0.1/", "scheme": "http"}
    tool = await tools.make_unchecked("custom", template(url))
    done = await tools.execute(tool, given)
    assert done["error"]["code"] == "not_configured"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\x7f", {"a": 1}, ["a"]])
async def test_a_value_cannot_add_a_header(tools, remote, value):
    config = template(f"{remote.url}/x", headers={"X-Trace": "{{value}}"})
    assert await tools.refused("custom", config, {"value": value})
    assert remote.seen == []


async def test_a_template_is_tried_again_like_other_calls(tools, remote):
    remote.answers = [(503, {"Retry-After": "0"}, b""), (200, {}, b"done")]
    config = template(f"{remote.url}/scripted") | {"retry_count": 1}
    done = await tools.run("custom", config)
    assert (done["output"]["body"], done["attempts"]) == ("done", 2)


@pytest.mark.parametrize("config", [{}, {"kind": "x"}, {"kind": 5}, {"kind": None}, {"kind": ["mcp"]}])
async def test_a_kind_that_is_not_there_is_not_configured(tools, config):
    done = await tools.execute(await tools.make_unchecked("custom", config))
    assert done["error"]["code"] == "not_configured"


@pytest.mark.parametrize("request_", [None, {}, {"url": 5}, "http://127.0.0.1/"])
async def test_a_template_without_a_request_is_not_configured(tools, request_):
    done = await tools.execute(
        await tools.make_unchecked("custom", {"kind": "http_template", "request": request_})
    )
    assert done["error"]["code"] == "not_configured"
