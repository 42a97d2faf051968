"""Tools of a real MCP server, listed and called over every way the protocol has of serving them."""

import asyncio
import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest

from retinue.adapters.mcp import McpClient, McpFailed, McpServer
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from retinue.kit.settings import LOOPBACK

SERVER = Path(__file__).with_name("mcp_server.py")
WAYS = ("json", "sse", "stateless-json", "stateless-sse")
OLD_WAYS = tuple(f"old-{way}" for way in WAYS)
KEY = "open-sesame-4711"


class Served:
    """The server process as its tests see it: where it is, and what it received."""

    def __init__(self, egress: Egress, port: int) -> None:
        self._egress = egress
        self.origin = f"http://127.0.0.1:{port}"

    def at(self, way: str, scope: str = "ten_1", **headers: str) -> McpServer:
        return McpServer(url=f"{self.origin}/{way}/", scope=scope, headers=headers)

    async def get(self, path: str) -> bytes:
        async with self._egress.request("GET", f"{self.origin}{path}", timeout_s=10) as response:
            return await response.read()

    async def journal(self) -> list[dict]:
        """Return the requests that arrived since the last call."""
        return json.loads(await self.get("/journal"))

    async def heard(self) -> list[str]:
        return [entry["rpc"] or entry["http"] for entry in await self.journal()]


@pytest.fixture(scope="session")
def port():
    process = subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    yield int(process.stdout.readline())
    process.communicate(timeout=10)


@pytest.fixture
async def egress():
    async with Egress(LOOPBACK) as opened:
        yield opened


@pytest.fixture
async def mcp_server(egress, port):
    found = Served(egress, port)
    await found.journal()
    return found


@pytest.fixture
async def client(egress, clock):
    async with McpClient(egress, clock) as opened:
        yield opened


async def call(client, server, name, timeout_s=10, **arguments):
    return await client.call_tool(server, name, arguments, timeout_s=timeout_s)


async def failure(calling) -> McpFailed:
    with pytest.raises(McpFailed) as caught:
        await calling
    return caught.value


@pytest.mark.parametrize("way", WAYS + OLD_WAYS)
async def test_tools_are_listed_in_every_way_of_serving(client, mcp_server, way):
    tools = {tool.name: tool for tool in await client.list_tools(mcp_server.at(way), timeout_s=10)}
    assert (tools["echo"].title, tools["echo"].description) == ("Echo", "Says it again.")
    assert tools["echo"].input_schema["required"] == ["text"]
    assert tools["add"].output_schema["properties"]["total"]["type"] == "integer"


@pytest.mark.parametrize("way", WAYS + OLD_WAYS)
async def test_tools_are_called_in_every_way_of_serving(client, mcp_server, way):
    server = mcp_server.at(way)
    echoed = await call(client, server, "echo", text="Grüße, 世界")
    assert (echoed.content[0]["text"], echoed.is_error) == ("Grüße, 世界", False)
    assert (await call(client, server, "add", a=1, b=2)).structured == {"total": 3, "parts": [1, 2]}
    failed = await call(client, server, "fail")
    assert failed.is_error
    assert "the customer was not found" in failed.content[0]["text"]
    picture = await call(client, server, "picture")
    assert picture.content[0]["mimeType"] == "image/png"
    assert base64.b64decode(picture.content[0]["data"]) == b"\x89PNG not really"
    assert (await failure(call(client, server, "nowhere"))).kind == "tool_not_found"


@pytest.mark.parametrize(
    ("way", "handshake"),
    [
        ("json", ["server/discover"]),
        ("stateless-sse", ["server/discover"]),
        ("old-json", ["server/discover", "initialize", "notifications/initialized"]),
        ("old-stateless-sse", ["server/discover", "initialize", "notifications/initialized"]),
    ],
)
async def test_a_warm_call_is_one_request(client, mcp_server, way, handshake):
    for expected in ([*handshake, "tools/call"], ["tools/call"]):
        await call(client, mcp_server.at(way), "echo", text="a")
        assert await mcp_server.heard() == expected


async def test_the_newest_version_is_spoken_without_a_session_and_the_older_one_with_it(client, mcp_server):
    await call(client, mcp_server.at("sse"), "echo", text="a")
    assert {(entry["version"], entry["session"]) for entry in await mcp_server.journal()} == {
        ("2026-07-28", None)
    }

    await call(client, mcp_server.at("old-sse"), "echo", text="a")
    probe, initialize, *later = await mcp_server.journal()
    assert (probe["version"], initialize["version"], initialize["session"]) == ("2026-07-28", None, None)
    assert initialize["body"]["params"]["protocolVersion"] == "2025-11-25"
    assert {entry["version"] for entry in later} == {"2025-11-25"}
    assert len({entry["session"] for entry in later}) == 1
    assert later[0]["session"]


async def test_sessions_are_shared_within_a_scope_and_a_set_of_headers_only(client, mcp_server):
    servers = [
        mcp_server.at("old-json"),
        mcp_server.at("old-json"),
        mcp_server.at("old-json", scope="ten_2"),
        mcp_server.at("old-json", **{"X-Api-Key": "other"}),
    ]
    for server in servers:
        await call(client, server, "echo", text="a")
    called = [entry["session"] for entry in await mcp_server.journal() if entry["rpc"] == "tools/call"]
    assert called[0] == called[1]
    assert len(set(called)) == 3


async def test_cold_calls_at_the_same_time_share_one_handshake(client, mcp_server):
    server = mcp_server.at("old-sse")
    await asyncio.gather(*(call(client, server, "echo", text=str(number)) for number in range(10)))
    assert (await mcp_server.heard()).count("initialize") == 1


async def test_sessions_end_when_idle_when_too_many_and_at_the_close(egress, mcp_server, clock):
    client = McpClient(egress, clock, max_pooled_connections=2)
    for scope in ("a", "b", "c"):
        await call(client, mcp_server.at("old-json", scope=scope), "echo", text="x")
    clock.advance(601)
    await call(client, mcp_server.at("old-json", scope="d"), "echo", text="x")
    await client.close()
    journal = await mcp_server.journal()
    begun = {entry["session"] for entry in journal if entry["rpc"] == "tools/call"}
    ended = [entry["session"] for entry in journal if entry["http"] == "DELETE"]
    assert len(ended) == 4
    assert set(ended) == begun


async def test_a_session_the_server_forgot_is_begun_again_once(client, mcp_server, egress):
    server = mcp_server.at("old-json")
    await call(client, server, "echo", text="a")
    session = (await mcp_server.journal())[-1]["session"]
    async with egress.request(
        "DELETE", server.url, headers={"Mcp-Session-Id": session}, timeout_s=5
    ) as response:
        assert response.status == 200
    assert (await call(client, server, "echo", text="b")).content[0]["text"] == "b"
    assert await mcp_server.heard() == [
        "DELETE",
        "tools/call",
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]


@pytest.mark.parametrize("way", ["old-json", "old-sse"])
async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(client, mcp_server, way):
    server = mcp_server.at(way)
    await client.list_tools(server, timeout_s=10)
    failed = await failure(call(client, server, "slow", timeout_s=0.5))
    assert (failed.kind, failed.message) == ("timeout", "The MCP server did not respond in time.")
    await mcp_server.get("/slow-ended")
    journal = await mcp_server.journal()
    asked = next(entry["body"]["id"] for entry in journal if entry["rpc"] == "tools/call")
    told = next(entry["body"] for entry in journal if entry["rpc"] == "notifications/cancelled")
    assert told["params"]["requestId"] == asked


async def test_without_a_session_hanging_up_is_the_cancellation(client, mcp_server):
    server = mcp_server.at("sse")
    await client.list_tools(server, timeout_s=10)
    assert (await failure(call(client, server, "slow", timeout_s=0.5))).kind == "timeout"
    await mcp_server.get("/slow-ended")
    assert "notifications/cancelled" not in await mcp_server.heard()


async def test_a_caller_who_gives_up_cancels_too(client, mcp_server):
    calling = asyncio.create_task(call(client, mcp_server.at("old-sse"), "slow"))
    while "tools/call" not in await mcp_server.heard():
        await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await mcp_server.get("/slow-ended")


@pytest.mark.parametrize("way", ["old-sse", "old-resumable"])
async def test_a_server_that_asks_is_answered_ping_and_refused_the_rest(client, mcp_server, way):
    server = mcp_server.at(way)
    pinged = await call(client, server, "ping_back")
    assert pinged.content[0]["text"] == "the client answered"
    asked = await call(client, server, "ask")
    assert asked.content[0]["text"] == "refused with -32601"


async def test_a_stream_the_server_ends_early_is_taken_up_again(client, mcp_server):
    answer = await call(client, mcp_server.at("old-resumable"), "hang_up")
    assert answer.content[0]["text"] == "told later"
    assert (await mcp_server.heard())[-2:] == ["tools/call", "GET"]


@pytest.mark.parametrize("way", ["stateless-json", "old-sse"])
async def test_the_list_of_tools_is_kept_for_a_while(client, mcp_server, clock, way):
    server = mcp_server.at(way)
    for _ in range(2):
        await client.list_tools(server, timeout_s=10)
    assert (await mcp_server.heard()).count("tools/list") == 1
    clock.advance(301)
    await client.list_tools(server, timeout_s=10)
    assert (await mcp_server.heard()).count("tools/list") == 1


async def test_a_server_may_shorten_how_long_its_list_is_kept(client, mcp_server, clock):
    server = mcp_server.at("json")
    for _ in range(3):
        await client.list_tools(server, timeout_s=10)
        clock.advance(70)
    assert (await mcp_server.heard()).count("tools/list") == 2


async def test_news_of_changed_tools_ends_the_kept_list(client, mcp_server):
    server = mcp_server.at("old-sse")
    await client.list_tools(server, timeout_s=10)
    await call(client, server, "learn")
    assert "learned" in {tool.name for tool in await client.list_tools(server, timeout_s=10)}


async def test_a_long_list_is_fetched_page_by_page(client, mcp_server):
    tools = await client.list_tools(mcp_server.at("paged"), timeout_s=10)
    assert [tool.name for tool in tools] == [f"tool-{page}-{n}" for page in range(3) for n in range(3)]
    assert (await mcp_server.heard()).count("tools/list") == 3
    assert (await failure(call(client, mcp_server.at("paged"), "nope"))).kind == "tool_not_found"


async def test_arguments_a_tool_wants_in_headers_are_put_there(client, mcp_server):
    """The first call learns it from the server's refusal, the second knows."""
    for region in ("eu-west", "Zürich "):
        routed = await call(client, mcp_server.at("json"), "route", region=region)
        assert routed.content[0]["text"] == f"routed to {region}"
    calls = [entry["params"] for entry in await mcp_server.journal() if entry["rpc"] == "tools/call"]
    encoded = base64.b64encode("Zürich ".encode()).decode()
    assert calls == [
        {},
        {"mcp-param-region": "eu-west"},
        {"mcp-param-region": f"=?base64?{encoded}?="},
    ]


async def test_a_locked_server_opens_with_the_right_header_only(client, mcp_server):
    unlocked = await call(client, mcp_server.at("locked", **{"X-Api-Key": KEY}), "echo", text="in")
    assert unlocked.content[0]["text"] == "in"
    for headers in ({}, {"X-Api-Key": "wrong"}):
        failed = await failure(call(client, mcp_server.at("locked", **headers), "echo", text="in"))
        assert failed.kind == "auth_error"


@pytest.mark.parametrize("way", ["json", "old-sse"])
async def test_an_answer_larger_than_allowed_is_refused_and_a_large_one_is_not(egress, mcp_server, way):
    async with McpClient(egress, ManualClock(), max_bytes=100_000) as client:
        server = mcp_server.at(way)
        large = await call(client, server, "long_text", size=40_000)
        assert len(large.content[0]["text"]) == 40_000
        assert (await failure(call(client, server, "long_text", size=200_000))).kind == "output_too_large"


async def test_the_headers_that_let_us_in_are_never_shown(mcp_server):
    assert KEY not in repr(mcp_server.at("locked", **{"X-Api-Key": KEY}))
