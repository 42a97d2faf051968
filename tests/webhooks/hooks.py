"""Webhooks through the API, and events that reach them."""

import hashlib
import hmac
from typing import Any

from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.client import Api, Response
from tests.factories.people import People
from tests.webhooks.receiver import Receiver

PATH = "/api/v1/webhooks"
ORDER = "order.placed"


class Hooks:
    """One tenant's webhooks; `restart` is another service on the same database."""

    def __init__(self, service: Service, people: People, admin: Api, receiver: Receiver) -> None:
        self.service = service
        self.people = people
        self.admin = admin
        self.receiver = receiver

    @property
    def clock(self) -> ManualClock:
        clock = self.service.instance.clock
        assert isinstance(clock, ManualClock)
        return clock

    async def make(self, path: str = "/hook", events: Any = (ORDER,), **more: Any) -> dict[str, Any]:
        body = {"url": self.receiver.url + path, "events": list(events), **more}
        answer = await self.admin.post(PATH, body)
        assert answer.status == 201, answer
        made: dict[str, Any] = answer.json()
        return made

    async def read(self, webhook: dict[str, Any]) -> dict[str, Any]:
        answer = await self.call(webhook, "GET", "")
        assert answer.status == 200, answer
        found: dict[str, Any] = answer.json()
        return found

    async def happen(self, type: str = ORDER, data: dict[str, Any] | None = None, *, hops: int = 0) -> str:
        """Emit and commit an event of the tenant; return its id."""
        async with self.people.context(self.admin.user.tenant_id) as ctx:
            if hops:
                import msgspec

                ctx.caller = msgspec.structs.replace(ctx.caller, hops=hops)
            return ctx.emit_custom(type, data or {})

    async def work(self) -> int:
        return await self.service.runner.drain()

    async def restart(self) -> None:
        await self.service.stop()
        await self.restart_stopped()

    async def restart_stopped(self) -> None:
        self.service = Service(self.service.settings, self.clock)
        await self.service.start()
        self.people = People(self.service)
        self.admin.app = self.service

    async def call(self, webhook: dict[str, Any], method: str, rest: str, **more: Any) -> Response:
        """Call as the administrator, who signs in again if the session has expired."""
        path = f"{PATH}/{webhook['id']}{rest}"
        answer = await self.admin.request(method, path, **more)
        if answer.status == 401:
            self.admin.token = (await self.people.super_admin()).token
            answer = await self.admin.request(method, path, **more)
        return answer

    async def deliveries(self, webhook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
        """Return the deliveries, newest first."""
        answer = await self.call(webhook, "GET", "/executions", query=query or None)
        assert answer.status == 200, answer
        assert set(answer.json()) == {"data", "total", "page", "per_page"}
        found: list[dict[str, Any]] = answer.json()["data"]
        return found

    async def only_delivery(self, webhook: dict[str, Any]) -> dict[str, Any]:
        (delivery,) = await self.deliveries(webhook)
        return await self.detail(webhook, delivery)

    async def detail(self, webhook: dict[str, Any], delivery: dict[str, Any]) -> dict[str, Any]:
        answer = await self.call(webhook, "GET", f"/executions/{delivery['id']}")
        assert answer.status == 200, answer
        found: dict[str, Any] = answer.json()
        return found


def own_signature(secret: str, timestamp: str, body: bytes) -> str:
    """Sign as the specification says: the whole secret as text over `<timestamp>.<raw body>`."""
    signed = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return "sha256=" + signed.hexdigest()
