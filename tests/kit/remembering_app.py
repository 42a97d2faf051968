"""An application that remembers what reached it, and may be told when to answer."""

import asyncio
import threading

GET = b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"


class RememberingApp:
    """Remembers what reached it."""

    def __init__(self):
        self.seen = []
        self.gone = threading.Event()
        self.entered = threading.Event()
        self.loop = None
        self.release = None

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            self.loop, self.release = asyncio.get_running_loop(), asyncio.Event()
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.seen.append(scope)
        self.entered.set()
        await getattr(self, scope["path"].strip("/"))(scope, receive, send)

    def let_go(self):
        self.loop.call_soon_threadsafe(self.release.set)

    @staticmethod
    async def answer(send, body, status=200):
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def hello(self, scope, receive, send):
        await self.answer(send, b"hello")

    async def echo(self, scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
                return
            body += message["body"]
            more = message["more_body"]
        await self.answer(send, body)

    async def refuse(self, scope, receive, send):
        await self.answer(send, b"too large", 413)

    async def hold(self, scope, receive, send):
        await self.release.wait()
        await self.answer(send, b"held")

    async def held_echo(self, scope, receive, send):
        await self.release.wait()
        await self.echo(scope, receive, send)

    async def fail(self, scope, receive, send):
        raise RuntimeError("secret detail")

    async def half(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})

    async def flood(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(4096):
            await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
            if await self.is_gone(receive):
                self.gone.set()
                return

    @staticmethod
    async def is_gone(receive):
        try:
            async with asyncio.timeout(0):
                return (await receive())["type"] == "http.disconnect"
        except TimeoutError:
            return False

    async def wait_for_end(self, scope, receive, send):
        while (await receive())["type"] != "http.disconnect":
            pass
        self.gone.set()


def code_of(answer):
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["connection"] == "close"
    assert set(answer.json()) == {"error"}
    assert answer.json()["error"]["message"]
    return answer.json()["error"]["code"]
