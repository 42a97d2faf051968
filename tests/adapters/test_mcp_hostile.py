"""MCP servers that lie, flood, loop or hang: each ends in one clear failure, soon and within bounds."""

import asyncio
import json

import pytest

from retinue.adapters.mcp import McpClient, McpFailed, McpServer
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from retinue.kit.settings import LOOPBACK
from tests.adapters.mcp_script import (
    NO_DISCOVERY,
    OBLIGING,
    TEXT,
    Script,
    events,
    json_reply,
    reply,
    result,
    serve_script,
)
from tests.kit.egress_listener import listening


async def kind(asking) -> str:
    with pytest.raises(McpFailed) as caught:
        await asking
    return caught.value.kind


def deep(levels):
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"<html>hello</html>", Content_Type="text/html"),
        reply(b"<html>", Content_Type="application/json"),
        reply(b"", Content_Type="application/json"),
        reply(b"\xff\xfe\x00", Content_Type="application/json"),
        reply(b'"text"', Content_Type="application/json"),
        reply(b"[]", Content_Type="application/json"),
        reply(b"", 202),
        reply(b"", 204),
        reply(b'{"jsonrpc":"2.0","id":' + deep(100_000) + b"}", Content_Type="application/json"),
        json_reply({"jsonrpc": "2.0", "id": 4711, "result": TEXT}),
        json_reply({"jsonrpc": "2.0", "id": "3", "result": TEXT}),
        json_reply({"jsonrpc": "2.0", "id": [1], "result": TEXT}),
        json_reply({"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "no"}}),
        lambda said: json_reply({"jsonrpc": "2.0", "id": said["id"]}),
        lambda said: json_reply({"jsonrpc": "2.0", "id": said["id"], "result": []}),
        lambda said: json_reply({"jsonrpc": "2.0", "id": said["id"], "error": "text"}),
        lambda said: result(said, {"content": "text"}),
        lambda said: result(said, {"content": ["text"]}),
        lambda said: result(said, {**TEXT, "isError": "yes"}),
        lambda said: result(said, {**TEXT, "structuredContent": json.loads(deep(400))}),
        lambda said: result(said, {"resultType": "input_required", "inputRequests": {}}),
        reply(b"", Content_Type="text/event-stream"),
        reply(b"data: {\n\n", Content_Type="text/event-stream"),
        reply(b"data: cut off", Content_Type="text/event-stream"),
        events({"jsonrpc": "2.0", "id": 4711, "result": TEXT}),
        reply(b"", 418),
        reply(b"", 302, Location="/elsewhere"),
    ],
)
async def test_nonsense_is_a_protocol_error(answer):
    async with serve_script({"tools/call": answer}) as rig:
        assert await kind(rig.call()) == "protocol_error"


@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, "auth_error"), (403, "auth_error"), (429, "network_error"), (503, "network_error")],
)
@pytest.mark.parametrize("method", ["initialize", "tools/call"])
async def test_a_refusing_status_says_what_kind_of_failure_it_is(status, expected, method):
    async with serve_script({method: reply(b"x" * 10_000, status)}) as rig:
        assert await kind(rig.call()) == expected


async def test_the_words_of_a_json_rpc_error_are_passed_on_in_moderation():
    def refuse(said):
        return json_reply({"jsonrpc": "2.0", "id": said["id"], "error": {"code": 7, "message": "n" * 10_000}})

    async with serve_script({"tools/call": refuse}) as rig:
        with pytest.raises(McpFailed) as caught:
            await rig.call()
        assert caught.value.message == f"The MCP server rejected the request: {'n' * 300}"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_to_another_server_is_never_followed(status):
    async with listening() as trap:
        for location in (f"{trap.url}/mcp", f"//127.0.0.1:{trap.port}/mcp", f"http://[::1]:{trap.port}/mcp"):
            answer = reply(b"", status, Location=location)
            async with serve_script(dict.fromkeys(OBLIGING, answer)) as rig:
                assert await kind(rig.call()) == "protocol_error"
        assert trap.connections == 0


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("location", ["/mcp/", "mcp/", "{url}/"])
async def test_a_redirect_within_the_server_keeps_method_body_and_headers(status, location):
    async with serve_script({}) as rig:
        heads = rig.script.listener.heads
        obliging = rig.script.__call__

        async def serve(writer):
            if heads[-1].split()[1] != "/mcp/":
                writer.write(reply(b"", status, Location=location.format(url=rig.server.url)))
                await writer.drain()
            else:
                await obliging(writer)

        rig.script.listener._answer = serve
        rig.server = McpServer(url=rig.server.url, scope="ten_1", headers={"Authorization": "Bearer mine"})
        assert (await rig.call()).content == TEXT["content"]
        assert "tools/call" in rig.script.asked()
        assert all("Bearer mine" in head for head in heads)
        assert sum(head.split()[1] == "/mcp" for head in heads) == 1, "the new address is remembered"


async def test_a_redirect_that_leads_to_itself_ends():
    async with serve_script(dict.fromkeys(OBLIGING, reply(b"", 307, Location="/mcp"))) as rig:
        assert await kind(rig.call()) == "protocol_error"
        assert len(rig.script.listener.heads) <= 8


async def test_an_address_nobody_may_reach_is_not_called():
    async with Egress() as egress, listening() as trap, McpClient(egress, ManualClock()) as client:
        server = McpServer(url=f"{trap.url}/mcp", scope="ten_1")
        assert await kind(client.list_tools(server, timeout_s=5)) == "ssrf_blocked"
        assert trap.connections == 0


async def test_a_server_that_is_not_there_is_a_network_error_and_is_tried_again():
    async with Egress(LOOPBACK) as egress, McpClient(egress, ManualClock()) as client:
        async with listening() as gone:
            server = McpServer(url=f"{gone.url}/mcp", scope="ten_1")
        failures = await asyncio.gather(*(kind(client.list_tools(server, timeout_s=5)) for _ in range(3)))
        assert failures == ["network_error"] * 3
        script = Script({})
        async with listening(script, port=gone.port) as script.listener:
            assert await client.list_tools(server, timeout_s=5) == []


async def flood(writer):
    writer.write(b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n")
    while True:
        writer.write(b": nothing yet\n\n" * 1000)
        await writer.drain()


async def trickle(writer):
    writer.write(b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n")
    await writer.drain()
    await asyncio.Event().wait()


async def declare(writer):
    writer.write(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{")
    await writer.drain()


@pytest.mark.parametrize("answer", [flood, declare])
async def test_an_answer_without_end_is_cut_off(answer):
    async with serve_script({"tools/call": lambda _: answer}, max_bytes=200_000) as rig:
        assert await kind(rig.call()) == "output_too_large"


@pytest.mark.parametrize("method", ["server/discover", "initialize", "tools/call"])
async def test_a_server_that_hangs_is_left_in_time_and_not_believed_dead(method):
    hangs = [True]

    def answer(said):
        if hangs:
            hangs.pop()
            return trickle
        usual = OBLIGING[method]
        return usual(said) if callable(usual) else usual

    async with serve_script({method: answer}) as rig:
        assert await kind(rig.call(timeout_s=0.2)) == "timeout"
        assert (await rig.call()).content == TEXT["content"]


async def test_a_session_that_is_never_known_is_begun_twice_and_no_more():
    async with serve_script({"tools/call": reply(b"", 404)}) as rig:
        assert await kind(rig.call()) == "protocol_error"
        assert rig.script.asked().count("initialize") == 2
        assert rig.script.asked().count("tools/call") == 2


async def test_a_server_that_became_an_older_one_is_asked_again_what_it_speaks():
    is_new = [True]

    def discover(said):
        return result(said, {"supportedVersions": ["2026-07-28"]}) if is_new else NO_DISCOVERY

    def do(said):
        return result(said, TEXT) if is_new or "_meta" not in said["params"] else reply(b"", 400)

    async with serve_script({"server/discover": discover, "tools/call": do}) as rig:
        await rig.call()
        is_new.clear()
        assert (await rig.call()).content == TEXT["content"]
        assert rig.script.asked()[-4:] == [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/call",
        ]


def page(number_of_tools, cursor, description=""):
    def answer(said):
        tool = {"inputSchema": {"type": "object"}, "description": description}
        tools = [{"name": f"t{n}", **tool} for n in range(number_of_tools)]
        return result(said, {"tools": tools, "nextCursor": cursor(said)})

    return answer


@pytest.mark.parametrize(
    ("answer", "expected", "most"),
    [
        (page(1, lambda _: "again"), "protocol_error", 2),
        (page(1, lambda said: f"{said['id']}"), "protocol_error", 100),
        (page(300, lambda said: f"{said['id']}"), "output_too_large", 4),
        (page(50, lambda said: f"{said['id']}", "d" * 10_000), "output_too_large", 3),
    ],
)
async def test_a_list_that_never_ends_is_given_up(answer, expected, most):
    async with serve_script({"tools/list": answer}) as rig:
        assert await kind(rig.list()) == expected
        assert rig.script.asked().count("tools/list") == most


async def test_tools_that_cannot_be_used_do_not_spoil_the_others():
    schema = {"type": "object"}
    nested = schema
    for _ in range(200):
        nested = {"properties": {"a": nested}}
    tools = [
        {"name": "good", "inputSchema": schema, "somethingNew": 1},
        {"name": "deep", "inputSchema": nested},
        {"name": "deep-output", "inputSchema": schema, "outputSchema": nested},
        {"name": "", "inputSchema": schema},
        {"name": "n" * 300, "inputSchema": schema},
        {"name": 5, "inputSchema": schema},
        {"name": "no-schema"},
        {"name": "null-schema", "inputSchema": None},
        "text",
        None,
    ]
    async with serve_script({"tools/list": lambda said: result(said, {"tools": tools})}) as rig:
        assert [tool.name for tool in await rig.list()] == ["good"]


async def test_a_server_that_only_asks_is_given_up_after_a_few_answers():
    def ask(said):
        return events(
            *({"jsonrpc": "2.0", "id": number, "method": "sampling/createMessage"} for number in range(90))
        )

    async with serve_script({"tools/call": ask}) as rig:
        assert await kind(rig.call()) == "protocol_error"
        answers = [said["error"]["code"] for said in rig.script.said if "error" in said]
        assert answers == [-32601] * 32


async def test_what_a_server_says_around_its_answer_is_understood():
    """Several messages in one event, as the revision 2025-03-26 had it, and events of unknown types."""

    def answer(said):
        batch = [
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}},
            {"jsonrpc": "2.0", "id": "x", "method": "ping"},
            {"jsonrpc": "2.0", "id": said["id"], "result": TEXT},
        ]
        head = b"event: gossip\ndata: not JSON\n\n: comment\nid: 7\nretry: soon\ndata:\n\n"
        return reply(
            head + b"data: " + json.dumps(batch).encode() + b"\r\n\r\n", Content_Type="text/event-stream"
        )

    async with serve_script({"tools/call": answer}) as rig:
        assert (await rig.call()).content == TEXT["content"]
        assert {"jsonrpc": "2.0", "id": "x", "result": {}} in rig.script.said


async def test_a_call_that_was_taken_is_never_sent_twice():
    """The call is not repeated even if its session ends afterwards."""

    def ask_first(said):
        return events(
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "id": said["id"], "result": TEXT},
        )

    def promise(_):
        return reply(b"id: 1\nretry: 1\ndata:\n\n", Content_Type="text/event-stream")

    async with serve_script({"tools/call": ask_first, None: reply(b"", 404)}) as rig:
        assert (await rig.call()).content == TEXT["content"]
        assert rig.script.asked().count("tools/call") == 1
    async with serve_script({"tools/call": promise, None: reply(b"", 404)}) as rig:
        assert await kind(rig.call()) == "network_error"
        assert rig.script.asked().count("tools/call") == 1


async def test_a_tools_own_error_is_kept_when_the_list_cannot_be_had():
    unknown = {"content": [{"type": "text", "text": "order not found"}], "isError": True}
    async with serve_script(
        {"tools/call": lambda said: result(said, unknown), "tools/list": reply(b"", 404)}
    ) as rig:
        assert (await rig.call()).content == unknown["content"]
        assert rig.script.asked().count("tools/call") == 1


async def test_a_stream_that_is_promised_again_and_again_is_given_up():
    promise = reply(b"id: 1\nretry: 1\ndata:\n\n", Content_Type="text/event-stream")
    async with serve_script({"tools/call": promise, None: promise}) as rig:
        assert await kind(rig.call()) == "protocol_error"
        assert rig.script.asked().count(None) == 10


@pytest.mark.parametrize(
    "answers",
    [
        {"initialize": lambda said: result(said, {"protocolVersion": "1999-01-01"})},
        {"initialize": lambda said: result(said, {})},
        {"initialize": lambda said: result(said, {"protocolVersion": "2025-06-18"}, Mcp_Session_Id="a b")},
        {
            "initialize": lambda said: result(
                said, {"protocolVersion": "2025-06-18"}, Mcp_Session_Id="a" * 2000
            )
        },
        {
            "server/discover": lambda said: json_reply(
                {
                    "jsonrpc": "2.0",
                    "id": said["id"],
                    "error": {"code": -32022, "data": {"supported": ["2031-01-01"]}},
                },
                400,
            )
        },
    ],
)
async def test_a_server_with_which_nothing_can_be_agreed_is_a_protocol_error(answers):
    async with serve_script(answers) as rig:
        assert await kind(rig.call()) == "protocol_error"
        assert "tools/call" not in rig.script.asked()


async def test_a_callers_headers_cannot_replace_the_protocols_own():
    async with serve_script({}) as rig:
        url = rig.server.url
        headers = {"MCP-Session-ID": "stolen", "accept": "text/html", "Authorization": "Bearer t"}
        await rig.client.call_tool(McpServer(url=url, scope="t", headers=headers), "work", {}, timeout_s=5)
        for head in rig.script.listener.heads:
            assert "stolen" not in head
            assert "text/html" not in head
            assert "Authorization: Bearer t" in head
