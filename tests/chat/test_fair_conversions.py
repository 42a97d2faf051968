"""Conversions of attachments: nobody's flood keeps others waiting, and equal content is converted once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from retinue.adapters.sandbox import reader_places
from retinue.kit.fair_queue import FairQueue, QueuedCaller
from tests.adapters.llm_server import ProviderServer
from tests.chat.attaching import photo, refs, seeing_agent, upload
from tests.chat.speaking import say
from tests.client import Api, Response
from tests.embed.keys import Holder, make_key
from tests.factories.people import People

Json = dict[str, Any]
FLOOD = 20
SESSION = "a-session-of-a-visitor"


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch) -> FairQueue:
    """Places of this test's own; other tests may have left children behind."""
    queue = reader_places.new_places()
    monkeypatch.setattr(reader_places, "_places", queue)
    return queue


async def wait_until(is_reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not is_reached():
            await asyncio.sleep(0)


@asynccontextmanager
async def all_taken(places: FairQueue) -> AsyncIterator[None]:
    """Nothing is converted inside of this block."""
    leave = [await places.enter(QueuedCaller("elsewhere", "member")) for _ in range(2)]
    try:
        yield
    finally:
        for one in leave:
            one()


async def other_tenant(people: People, provider: ProviderServer) -> tuple[Api, Json]:
    admin = await people.signed_in("tenant_admin", await people.tenant("Beta"))
    return admin, await seeing_agent(admin, provider, "openai")


@pytest.mark.one_service("it looks into the line of one process")
async def test_twenty_pictures_of_a_tenant_delay_another_by_one_conversion(
    admin: Api, people: People, provider: ProviderServer, places: FairQueue
) -> None:
    agent = await seeing_agent(admin, provider, "openai")
    beta, beta_agent = await other_tenant(people, provider)
    flood = [await upload(admin, "a.png", photo(60 + number, 40, "PNG")) for number in range(FLOOD)]
    mine = await upload(beta, "b.png", photo(50, 50, "PNG"))
    finished: list[str] = []

    async def ask(name: str, api: Api, of: Json, file_id: str) -> Response:
        answer = await say(api, of, "Look", attachments=refs(file_id))
        finished.append(name)
        return answer

    async with all_taken(places):
        flooding = [asyncio.create_task(ask("flood", admin, agent, file_id)) for file_id in flood]
        await wait_until(lambda: places.waiting == FLOOD)
        asked = asyncio.create_task(ask("beta", beta, beta_agent, mine))
        await wait_until(lambda: places.waiting == FLOOD + 1)
    answer = await asked
    assert answer.status == 200, answer
    # Two places: at most the two that were first in turn, and one that runs beside it.
    assert finished.index("beta") <= 4
    await asyncio.gather(*flooding)


@pytest.mark.one_service("it looks into the line of one process")
async def test_equal_content_is_converted_once_for_a_tenant_and_again_for_another(
    admin: Api, people: People, provider: ProviderServer, places: FairQueue
) -> None:
    agent = await seeing_agent(admin, provider, "openai")
    beta, beta_agent = await other_tenant(people, provider)
    content = photo(64, 64, "PNG")
    first, second, third = [await upload(admin, f"{n}.png", content) for n in range(3)]
    foreign = await upload(beta, "0.png", content)
    async with all_taken(places):
        both = [
            asyncio.create_task(say(admin, agent, "Look", attachments=refs(id))) for id in (first, second)
        ]
        await wait_until(lambda: places.waiting == 1)
        # The second request does not add to the line, however long one waits.
        for _ in range(1000):
            await asyncio.sleep(0)
        assert places.waiting == 1
    assert [answer.status for answer in await asyncio.gather(*both)] == [200, 200]
    async with all_taken(places):
        assert (await say(admin, agent, "Look", attachments=refs(third))).status == 200
        theirs = asyncio.create_task(say(beta, beta_agent, "Look", attachments=refs(foreign)))
        await wait_until(lambda: places.waiting == 1)
    assert (await theirs).status == 200


async def visitor(admin: Api, api: Api, agent: Json) -> Holder:
    return Holder(api, agent, await make_key(admin, agent))


async def upload_file(holder: Holder, content: bytes, filename: str = "a.png") -> str:
    answer = await holder.api.post(
        f"/api/v1/public/agents/{holder.agent['id']}/files",
        files={"file": (filename, content, "text/plain")},
        fields={"session_id": SESSION},
        headers=holder.headers,
    )
    assert answer.status == 201, answer
    return str(answer.json()["file_id"])


@pytest.mark.one_service("it looks into the line of one process")
async def test_a_visitor_has_few_conversions_at_a_time(
    admin: Api, api: Api, provider: ProviderServer, places: FairQueue
) -> None:
    holder = await visitor(admin, api, await seeing_agent(admin, provider, "openai"))
    files = [await upload_file(holder, photo(70 + number, 40, "PNG")) for number in range(3)]

    def look(file_id: str) -> Awaitable[Response]:
        return holder.say("Look", session_id=SESSION, attachments=refs(file_id))

    async with all_taken(places):
        waiting = [asyncio.ensure_future(look(file_id)) for file_id in files[:2]]
        await wait_until(lambda: places.waiting == 2)
        refused = await look(files[2])
        assert (refused.status, refused.code) == (429, "rate_limited")
        assert refused.headers["retry-after"] == "5"
        assert refused.details == {"limit": 2, "window": "concurrent", "retry_after": 5}
    assert [answer.status for answer in await asyncio.gather(*waiting)] == [200, 200]
    assert (await look(files[2])).status == 200


async def test_a_visitors_picture_has_fewer_pixels_than_a_members(
    admin: Api, api: Api, provider: ProviderServer
) -> None:
    agent = await seeing_agent(admin, provider, "openai")
    holder = await visitor(admin, api, agent)
    large = photo_of(Image.new("1", (5001, 5000)))
    answer = await holder.say("Look", session_id=SESSION, attachments=refs(await upload_file(holder, large)))
    assert (answer.status, answer.code) == (413, "file_too_large")
    assert answer.details == {"attachments.0": "The image must have at most 25 megapixels, or 12.5 as WebP."}
    assert (
        await say(admin, agent, "Look", attachments=refs(await upload(admin, "a.png", large)))
    ).status == 200


def photo_of(picture: Image.Image) -> bytes:
    content = BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


@pytest.mark.one_service("it looks into the line of one process")
async def test_who_waits_too_long_is_told_to_come_back(
    admin: Api, provider: ProviderServer, places: FairQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await seeing_agent(admin, provider, "openai")
    file_id = await upload(admin, "a.png", photo(80, 40, "PNG"))
    monkeypatch.setattr(reader_places, "MAX_WAIT_SECONDS", 0.01)
    async with all_taken(places):
        answer = await say(admin, agent, "Look", attachments=refs(file_id))
    assert (answer.status, answer.code) == (503, "unavailable")
    assert answer.headers["retry-after"] == "5"
    monkeypatch.undo()
    assert (await say(admin, agent, "Look", attachments=refs(file_id))).status == 200
