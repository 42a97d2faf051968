"""Custom tools of kind `mcp` against a real MCP server in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.servers.rest_api import CLIENT_ID, CLIENT_SECRET

pytestmark = pytest.mark.either_database

SERVER = Path(__file__).parents[1] / "adapters" / "mcp_server.py"
KEY = "open-sesame-4711"


@pytest.fixture(scope="module")
def origin():
    process = subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    process.communicate(timeout=10)


def mcp(origin, tool_name, way="json", **more):
    return {"kind": "mcp", "server_url": f"{origin}/{way}/", "tool_name": tool_name, **more}


@pytest.mark.parametrize("way", ["json", "sse", "stateless-json", "old-sse"])
async def test_structured_content_is_the_output(tools, origin, way):
    config = mcp(origin, "add", way, transport="streamable_http")
    done = await tools.run("custom", config, {"a": 2, "b": 3})
    assert (done["status"], done["output"]) == ("completed", {"total": 5, "parts": [2, 3]}), done


async def test_without_structured_content_the_blocks_are_the_output(tools, origin):
    done = await tools.run("custom", mcp(origin, "picture"))
    (block,) = done["output"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")


async def test_what_a_tool_reports_as_an_error_fails_the_run(tools, origin):
    done = await tools.run("custom", mcp(origin, "fail"))
    assert (done["status"], done["error"]["code"]) == ("failed", "runtime_error")
    assert "the customer was not found" in done["error"]["message"]


async def test_a_tool_the_server_does_not_have_is_not_configured(tools, origin):
    done = await tools.run("custom", mcp(origin, "nothing"))
    assert (done["status"], done["error"]["code"]) == ("failed", "not_configured")


async def test_a_tool_that_does_not_answer_ends_in_a_timeout(tools, origin):
    done = await tools.run("custom", mcp(origin, "slow", timeout_ms=300))
    assert (done["status"], done["error"]["code"]) == ("timeout", "timeout")


async def test_an_answer_that_is_too_large_is_refused(tools, origin):
    done = await tools.run("custom", mcp(origin, "long_text"), {"size": 2_000_000})
    assert done["error"]["code"] == "output_too_large"


async def test_the_tool_is_let_in_with_its_key(tools, origin):
    config = mcp(origin, "echo", "locked")
    key = {"auth_type": "api_key", "auth_config": {"api_key_value": KEY}}
    done = await tools.run("custom", config, {"text": f"the key is {KEY}"}, **key)
    assert done["output"] == {"result": "the key is ***"}, done
    for other in (
        {"auth_type": "none"},
        {"auth_type": "api_key", "auth_config": {"api_key_value": "wrong-4711"}},
    ):
        done = await tools.run("custom", config, {"text": "x"}, **other)
        assert done["error"]["code"] == "auth_error"


async def test_a_token_the_server_refuses_is_renewed_once(tools, origin, remote):
    client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "token_url": f"{remote.url}/token"}
    done = await tools.run("custom", mcp(origin, "echo", "locked"), auth_type="oauth2", auth_config=client)
    assert (done["error"]["code"], done["attempts"], remote.tokens_issued) == ("auth_error", 2, 2)


async def test_a_server_that_is_not_there_is_a_network_error(tools):
    done = await tools.run("custom", mcp("http://127.0.0.1:1", "echo"))
    assert done["error"]["code"] == "network_error"


async def test_something_else_than_an_mcp_server_is_an_error_of_the_run(tools, remote):
    done = await tools.run("custom", mcp(remote.url, "echo"))
    assert (done["status"], done["error"]["code"]) == ("failed", "runtime_error")


@pytest.mark.parametrize("missing", ["server_url", "tool_name"])
async def test_what_is_missing_is_said(tools, origin, missing):
    config = mcp(origin, "echo")
    del config[missing]
    done = await tools.run("custom", config)
    assert done["error"] == {"code": "not_configured", "message": f"config.{missing} is required."}


async def test_another_transport_is_not_configured(tools, origin):
    tool = await tools.make_unchecked("custom", mcp(origin, "echo", transport="stdio"))
    assert (await tools.execute(tool))["error"]["code"] == "not_configured"
