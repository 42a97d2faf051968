"""An MCP server that says, byte for byte, what a test wants it to say."""

import contextlib
import functools
import json

from retinue.adapters.mcp import McpClient, McpServer
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from retinue.kit.settings import LOOPBACK
from tests.kit import egress_listener
from tests.kit.egress_listener import listening

# The listener hangs up after each answer of a script, and says so.
reply = functools.partial(egress_listener.reply, Connection="close")
TEXT = {"content": [{"type": "text", "text": "done"}]}
NO_DISCOVERY = reply(b"", 400)


def json_reply(message, status=200, **headers):
    return reply(json.dumps(message).encode(), status, Content_Type="application/json", **headers)


def result(said, content, **headers):
    return json_reply({"jsonrpc": "2.0", "id": said["id"], "result": content}, **headers)


def events(*messages):
    body = b"".join(b"data: " + json.dumps(message).encode() + b"\n\n" for message in messages)
    return reply(body, Content_Type="text/event-stream; charset=utf-8")


def answer_initialize(said):
    return result(said, {"protocolVersion": "2025-06-18", "capabilities": {}}, Mcp_Session_Id="s-1")


OBLIGING = {
    "server/discover": NO_DISCOVERY,
    "initialize": answer_initialize,
    "notifications/initialized": reply(b"", 202),
    "notifications/cancelled": reply(b"", 202),
    "tools/list": lambda said: result(said, {"tools": []}),
    "tools/call": lambda said: result(said, TEXT),
    None: reply(b"", 202),
}


class Script:
    """A server that answers each method as it is told, and remembers what it was asked."""

    def __init__(self, answers):
        self._answers = {**OBLIGING, **answers}
        self.said = []
        self.listener = None

    async def __call__(self, writer):
        said = json.loads(self.listener.bodies[-1] or b"{}")
        self.said.append(said)
        answer = self._answers[said.get("method")]
        if callable(answer):
            answer = answer(said)
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
        else:
            await answer(writer)

    def asked(self):
        return [said.get("method") for said in self.said]


class Rig:
    def __init__(self, client, script, url):
        self.client, self.script = client, script
        self.server = McpServer(url=url, scope="ten_1")

    async def call(self, timeout_s=5):
        return await self.client.call_tool(self.server, "work", {}, timeout_s=timeout_s)

    async def list(self):
        return await self.client.list_tools(self.server, timeout_s=5)


@contextlib.asynccontextmanager
async def serve_script(answers, **options):
    script = Script(answers)
    async with (
        Egress(LOOPBACK) as egress,
        McpClient(egress, ManualClock(), **options) as client,
        listening(script) as listener,
    ):
        script.listener = listener
        yield Rig(client, script, f"{listener.url}/mcp")
