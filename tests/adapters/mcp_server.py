"""A real MCP server for the tests, built on the official package: prints its port, ends with its stdin.

Each way of serving has a path of its own. Below `/old-…` the same server is one that never heard of the
revision 2026-07-28, below `/locked` it wants a key, below `/changing` its tools are those last sent to
`/changing-tools`. `/journal` tells what was received.
"""

import asyncio
import base64
import contextlib
import io
import json
import sys
from typing import Annotated

import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_PARAMS,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    ListToolsResult,
    PingRequest,
    TextContent,
    Tool,
    ToolListChangedNotification,
)
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

KEY = "open-sesame-4711"
WAYS = {
    "json": {"json_response": True},
    "sse": {},
    "stateless-json": {"json_response": True, "stateless_http": True},
    "stateless-sse": {"stateless_http": True},
}

journal: list[dict] = []
slow_ended = asyncio.Event()


class Sum(BaseModel):
    total: int
    parts: list[int]


class Colour(BaseModel):
    colour: str


class Memory(EventStore):
    """Stores every event of every stream, so that a client can resume a stream."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events) - 1)

    async def replay_events_after(self, last_event_id, send_callback):
        last = int(last_event_id)
        stream_id = self.events[last][0]
        for number, (stream, message) in enumerate(self.events):
            if number > last and stream == stream_id and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream_id


def echo(text: str) -> str:
    return text


def add(a: int, b: int) -> Sum:
    return Sum(total=a + b, parts=[a, b])


def fail() -> str:
    raise ToolError("the customer was not found")


async def slow() -> str:
    try:
        await asyncio.Event().wait()
    finally:
        slow_ended.set()


def picture() -> Image:
    return Image(data=b"\x89PNG not really", format="png")


def long_text(size: int) -> str:
    return "x" * size


def route(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    return f"routed to {region}"


async def learn(ctx: Context) -> str:
    ctx.mcp_server.add_tool(echo, name="learned")
    await ctx.session.send_notification(ToolListChangedNotification(), ctx.request_id)
    return "learned"


async def ping_back(ctx: Context) -> str:
    here = ServerMessageMetadata(related_request_id=ctx.request_id)
    await ctx.session.send_request(PingRequest(), EmptyResult, metadata=here)
    return "the client answered"


async def ask(ctx: Context) -> str:
    try:
        return str(await ctx.elicit("Which colour?", Colour))
    except MCPError as refused:
        return f"refused with {refused.error.code}"


async def hang_up(ctx: Context) -> str:
    await ctx.close_sse_stream()
    return "told later"


def build() -> MCPServer:
    server = MCPServer("workshop", cache_hints={"tools/list": CacheHint(ttl_ms=120_000)})
    server.add_tool(echo, title="Echo", description="Says it again.")
    for tool in (add, fail, slow, picture, long_text, route, learn, ping_back, ask, hang_up):
        server.add_tool(tool)
    return server


def build_paged() -> Server:
    async def list_tools(ctx, params):
        page = int(params.cursor) if params and params.cursor else 0
        names = [f"tool-{page}-{number}" for number in range(3)]
        tools = [Tool(name=name, input_schema={"type": "object"}) for name in names]
        return ListToolsResult(tools=tools, next_cursor=str(page + 1) if page < 2 else None)

    async def call_tool(ctx, params):
        if params.name.startswith("tool-"):
            return CallToolResult(content=[TextContent(text=params.name)])
        raise MCPError(INVALID_PARAMS, f"there is no {params.name}")

    return Server("paged", on_list_tools=list_tools, on_call_tool=call_tool)


changing_tools: list[Tool] = []


def build_changing() -> Server:
    """A server whose tools are whatever was last sent to `/changing-tools`."""

    async def list_tools(ctx, params):
        return ListToolsResult(tools=changing_tools)

    async def call_tool(ctx, params):
        if all(tool.name != params.name for tool in changing_tools):
            raise MCPError(INVALID_PARAMS, f"there is no {params.name}")
        if params.name == "camera":
            return take_photos(**(params.arguments or {}))
        return CallToolResult(
            content=[], structured_content={"called": params.name, **(params.arguments or {})}
        )

    return Server("workshop", title="Changing Workshop", on_list_tools=list_tools, on_call_tool=call_tool)


def take_photos(kinds: list[str], is_structured: bool = False) -> CallToolResult:
    """A text and a block for each kind: a picture that hides a word, a broken one, a sound, a resource."""
    blocks = [TextContent(text="Click!")]
    for kind in kinds:
        data = base64.b64encode(photo() if kind in {"photo", "resource"} else b"\x89PNG not really").decode()
        if kind == "audio":
            blocks.append(AudioContent(data=data, mime_type="audio/wav"))
        elif kind == "resource":
            blob = BlobResourceContents(uri="camera://1", mime_type="image/png", blob=data)
            blocks.append(EmbeddedResource(resource=blob))
        else:
            blocks.append(ImageContent(data=data, mime_type="image/png"))
    return CallToolResult(content=blocks, structured_content={"taken": len(kinds)} if is_structured else None)


def photo() -> bytes:
    content = io.BytesIO()
    hidden = PngInfo()
    hidden.add_text("Comment", "CANARY")
    Picture.new("RGB", (64, 48), (30, 90, 200)).save(content, "PNG", pnginfo=hidden)
    return content.getvalue()


async def change_tools(request):
    changing_tools[:] = [Tool.model_validate(tool) for tool in await request.json()]
    return Response(status_code=204)


class Doorman:
    """Writes down what comes in; plays the older server; lets nobody in without the key."""

    def __init__(self, app, *, is_old=False, key=None):
        self.app, self.is_old, self.key = app, is_old, key

    async def __call__(self, scope, receive, send):
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        content, more = b"", True
        while more:
            message = await receive()
            content, more = content + message.get("body", b""), message.get("more_body", False)
        said = json.loads(content) if content else {}
        journal.append(
            {
                "path": scope["path"],
                "http": scope["method"],
                "rpc": said.get("method"),
                "session": headers.get("mcp-session-id"),
                "version": headers.get("mcp-protocol-version"),
                "params": {name: value for name, value in headers.items() if name.startswith("mcp-param-")},
                "body": said,
            }
        )
        if self.key and headers.get("x-api-key") != self.key:
            await Response(status_code=401)(scope, receive, send)
            return
        if self.is_old and headers.get("mcp-protocol-version", "") > "2026":
            kept = [(name, value) for name, value in scope["headers"] if name != b"mcp-protocol-version"]
            scope = {**scope, "headers": kept}
        unread = [{"type": "http.request", "body": content, "more_body": False}]

        async def replay():
            return unread.pop() if unread else await receive()

        await self.app(scope, replay, send)


async def tell_journal(request):
    told = list(journal)
    journal.clear()
    return JSONResponse(told)


async def wait_for_slow(request):
    await slow_ended.wait()
    slow_ended.clear()
    return Response(status_code=204)


def application() -> Starlette:
    inner, routes = [], []

    def mount(path, server, **options):
        door = {name: options.pop(name) for name in ("is_old", "key") if name in options}
        app = server.streamable_http_app(streamable_http_path="/", **options)
        inner.append(app)
        routes.append(Mount(path, Doorman(app, **door)))

    for way, options in WAYS.items():
        mount(f"/{way}", build(), **options)
        mount(f"/old-{way}", build(), is_old=True, **options)
    mount("/old-resumable", build(), is_old=True, event_store=Memory(), retry_interval=1)
    mount("/locked", build(), key=KEY)
    mount("/paged", build_paged(), json_response=True)
    mount("/changing", build_changing(), json_response=True)
    mount("/old-changing", build_changing(), is_old=True)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        async with contextlib.AsyncExitStack() as stack:
            for app in inner:
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    routes += [Route("/changing-tools", change_tools, methods=["POST"])]
    routes += [Route("/journal", tell_journal), Route("/slow-ended", wait_for_slow)]
    return Starlette(routes=routes, lifespan=lifespan)


class Announcing(uvicorn.Server):
    """Says its port once it listens."""

    async def startup(self, sockets=None):
        await super().startup(sockets)
        sys.stdout.write(f"{self.servers[0].sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()


async def main():
    server = Announcing(uvicorn.Config(application(), host="127.0.0.1", port=0, log_level="warning"))
    serving = asyncio.create_task(server.serve())
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = server.force_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(main())
