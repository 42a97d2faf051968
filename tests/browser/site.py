"""A real server with forms on it, and another site that shows them."""

from typing import Any, Self

from aiohttp import web

from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess, free_port

FORMS = "/api/v1/forms"
UNAUTHORIZED = 401


class Site:
    """The server as someone who makes forms sees it."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.url = f"http://127.0.0.1:{server.port}"
        self.token = ""

    async def sign_in(self) -> Self:
        me = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
        self.token = (await self.call("POST", "/auth/login", me))["access_token"]
        return self

    async def answer(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        status, answer = await call(self.server.port, method, path, token=self.token, body=body)
        if status != UNAUTHORIZED or not self.token:
            return status, answer
        # The tests of one worker take longer than a token lives.
        self.token = ""
        await self.sign_in()
        return await call(self.server.port, method, path, token=self.token, body=body)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = await self.answer(method, path, body)
        assert status < 300, (status, answer)
        return answer

    async def make_form(self, *fields: dict[str, Any], name: str = "Contact", **more: Any) -> dict[str, Any]:
        """A published form that people may submit as often as a test does."""
        more["settings"] = {"limits": {"submit": 10_000}, **more.get("settings", {})}
        form = (await self.call("POST", FORMS, {"name": name, "fields": list(fields), **more}))["data"]
        await self.call("POST", f"{FORMS}/{form['id']}/publish")
        return form

    def page_of(self, form: dict[str, Any], query: str = "") -> str:
        return f"{self.url}/f/{form['slug']}{query}"

    async def submissions(self, form: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the submissions, newest first."""
        return (await self.call("GET", f"{FORMS}/{form['id']}/submissions"))["data"]

    async def submit(self, form: dict[str, Any], data: dict[str, Any]) -> tuple[int, Any]:
        return await self.answer("POST", f"/api/v1/public/forms/{form['slug']}/submit", {"data": data})

    async def analytics(self, form: dict[str, Any]) -> dict[str, Any]:
        return (await self.call("GET", f"{FORMS}/{form['id']}/analytics"))["data"]


class OtherSite:
    """A site of someone else: another origin, whose pages hold what a test puts there."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, str]] = {}
        self.port = free_port()
        self._runner = web.AppRunner(self._app())

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/{name}", self._serve)
        return app

    async def _serve(self, request: web.Request) -> web.Response:
        if request.match_info["name"] not in self.pages:
            raise web.HTTPNotFound
        content, policy = self.pages[request.match_info["name"]]
        headers = {"Content-Security-Policy": policy} if policy else None
        return web.Response(text=content, content_type="text/html", charset="utf-8", headers=headers)

    async def start(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        return self

    async def stop(self) -> None:
        await self._runner.cleanup()

    def publish(self, name: str, body: str, policy: str = "") -> str:
        """The address of a new page with this in its body."""
        html = f'<!doctype html><html lang="en"><title>Other</title><body><h1>Ours</h1>{body}</body></html>'
        self.pages[name] = (html, policy)
        return f"http://localhost:{self.port}/{name}"
