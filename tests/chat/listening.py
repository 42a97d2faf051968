"""A client of one stream that hears it as it comes, and can go away; and the turns that are going on."""

import asyncio
from typing import Any

from retinue.app import Service
from retinue.chat.replies.live import LiveTurn, LiveTurns
from tests.chat.speaking import Heard, events_of, path_of
from tests.client import Api
from tests.services import instances_of


class Listener:
    def __init__(
        self, api: Api, path: str, body: Any = None, method: str = "POST", headers: Any = None
    ) -> None:
        self.body = b""
        self._heard = asyncio.Condition()
        self._gone = asyncio.Event()
        self._app = api.app
        client = Api(self._watched, token=api.token, ip=api.ip)
        self._task = asyncio.create_task(client.request(method, path, json=body, headers=headers))

    async def _watched(self, scope: Any, receive: Any, send: Any) -> None:
        has_body = True

        async def receiving() -> Any:
            nonlocal has_body
            if has_body:
                has_body = False
                return await receive()
            await self._gone.wait()
            return {"type": "http.disconnect"}

        async def sending(message: Any) -> None:
            async with self._heard:
                self.body += message.get("body", b"")
                self._heard.notify_all()
            await send(message)

        await self._app(scope, receiving, sending)

    @property
    def events(self) -> list[Heard]:
        return events_of(self.body.rpartition(b"\n\n")[0])

    async def until(self, event: str, count: int = 1) -> None:
        async with asyncio.timeout(10), self._heard:
            await self._heard.wait_for(lambda: sum(one.event == event for one in self.events) >= count)

    async def leave(self) -> None:
        self._gone.set()
        await self.end()

    async def end(self) -> None:
        async with asyncio.timeout(10):
            await self._task


async def begin_reply(api: Api, agent: dict[str, Any]) -> tuple[Listener, str]:
    """Return who hears a reply, and its id, once its first words were heard."""
    listener = Listener(api, path_of(agent, "/stream"), {"message": "Hello"})
    await listener.until("content_delta")
    return listener, listener.events[0].data["message_id"]


def turns_of(service: Service) -> list[LiveTurns]:
    """Return the running turns of each process."""
    return [instance.states[LiveTurns] for instance in instances_of(service)]


async def wait_until_quiet(service: Service) -> None:
    """Wait until no turn is running."""
    async with asyncio.timeout(10):
        while any(len(turns) for turns in turns_of(service)):
            await asyncio.sleep(0.01)


def find_turn(service: Service, message_id: str) -> LiveTurn:
    (found,) = [turn for turns in turns_of(service) if (turn := turns.find(message_id)) is not None]
    return found
