"""Files of visitors: for one session, bounded, and only where the key's owner allows them."""

from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import KEY, ProviderServer
from tests.chat.attaching import CANARY, chats_of, images_in, photo, photo_with_canary, refs, seeing_agent
from tests.chat.speaking import messages_of
from tests.client import Api, Response
from tests.embed.keys import PATH, Holder, make_key
from tests.factories.agents import change_agent
from tests.factories.people import People
from tests.factories.providers import add_key

Json = dict[str, Any]
SESSION = "a-session-of-a-visitor"


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> Json:
    return await seeing_agent(admin, provider, "openai")


@pytest.fixture
async def holder(admin: Api, api: Api, agent: Json) -> Holder:
    return Holder(api, agent, await make_key(admin, agent))


async def send(
    holder: Holder, content: bytes, filename: str = "a.jpg", session_id: str = SESSION
) -> Response:
    return await holder.api.post(
        f"/api/v1/public/agents/{holder.agent['id']}/files",
        files={"file": (filename, content, "text/plain")},
        fields={"session_id": session_id},
        headers=holder.headers,
    )


async def send_photo(holder: Holder) -> Json:
    sent = await send(holder, photo_with_canary(), "holiday.jpg")
    assert sent.status == 201, sent
    return sent.json()


async def test_a_visitor_sends_a_file_in_their_session_only(holder: Holder, provider: ProviderServer) -> None:
    file = await send_photo(holder)
    assert set(file) == {"file_id", "filename", "size_bytes", "mime_type"}
    body = {"attachments": refs(file["file_id"])}
    elsewhere = await holder.say("Look", session_id="another-session-of-one", **body)
    assert (elsewhere.status, elsewhere.code) == (404, "file_not_found")
    answer = await holder.say("Look", session_id=SESSION, **body)
    assert answer.status == 200, answer
    assert (await holder.hear("And again", session_id=SESSION, **body))[-1].event == "message_stop"
    for request in chats_of(provider):
        assert CANARY not in request.body
        assert images_in(request)


async def test_a_visitor_and_who_manages_the_agent_see_what_was_sent(admin: Api, holder: Holder) -> None:
    file = await send_photo(holder)
    answer = await holder.say("Look", session_id=SESSION, attachments=refs(file["file_id"]))
    transcript = await holder.api.post(
        f"/api/v1/public/agents/{holder.agent['id']}/transcript",
        {"session_id": SESSION},
        headers=holder.headers,
    )
    shown = transcript.json()["messages"][0]["attachments"]
    assert [(one["filename"], one["kind"]) for one in shown] == [("holiday.jpg", "image")]
    stored = await messages_of(admin, answer.json()["conversation_id"])
    assert stored[0]["attachments"][0]["file_id"] == file["file_id"]
    # The files API is not for embed keys, and who manages the agent sees what visitors sent.
    assert (await admin.get(f"/api/v1/files/{file['file_id']}/content")).status == 200


async def test_two_keys_of_one_agent_do_not_share_files(admin: Api, api: Api, holder: Holder) -> None:
    other = Holder(api, holder.agent, await make_key(admin, holder.agent))
    file_id = (await send(holder, photo())).json()["file_id"]
    refused = await other.say("Look", session_id=SESSION, attachments=refs(file_id))
    assert (refused.status, refused.code) == (404, "file_not_found")
    own = await admin.post("/api/v1/files", files={"file": ("a.jpg", photo(), "image/jpeg")})
    refused = await holder.say("Look", attachments=refs(own.json()["data"]["file_id"]))
    assert (refused.status, refused.code) == (404, "file_not_found")


async def test_a_key_without_the_permission_takes_no_files(admin: Api, api: Api, holder: Holder) -> None:
    file_id = (await send(holder, photo())).json()["file_id"]
    changed = await admin.patch(f"{PATH}/{holder.key['id']}", {"allow_attachments": False})
    assert (changed.status, changed.json()["allow_attachments"]) == (200, False)
    for refused in (
        await send(holder, photo()),
        await holder.say("Look", session_id=SESSION, attachments=refs(file_id)),
    ):
        assert (refused.status, refused.details["reason"]) == (403, "attachments_not_allowed")
    widget = await api.get(f"/api/v1/public/agents/{holder.agent['id']}/widget", headers=holder.headers)
    assert widget.json()["allow_attachments"] is False


@pytest.mark.parametrize(
    ("filename", "content", "status", "code"),
    [
        ("a.svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>', 415, "unsupported_file_type"),
        ("a.jpg", b"", 415, "unsupported_file_type"),
        ("a.zip", b"PK\x05\x06" + bytes(18), 415, "unsupported_file_type"),
        ("a.png", photo(), 201, ""),
        ("a.png", photo() + b"<script>alert(1)</script>", 415, "unsupported_file_type"),
        ("a.jpg", bytes(10 * 1024 * 1024 + 1), 413, "file_too_large"),
    ],
)
async def test_what_cannot_be_attached_is_refused_at_once(
    holder: Holder, filename: str, content: bytes, status: int, code: str
) -> None:
    answer = await send(holder, content, filename)
    assert answer.status == status, answer
    assert not code or answer.code == code


async def test_uploads_of_a_session_are_limited_and_expire(
    service: Service, holder: Holder, people: People, clock: ManualClock
) -> None:
    await service.runner.drain()
    for _ in range(20):
        assert (await send(holder, b"Some text", "a.txt")).status == 201
    refused = await send(holder, b"Some text", "a.txt")
    assert refused.status == 429
    assert int(refused.headers["retry-after"]) > 0
    assert (await send(holder, b"x", "a.txt", "another-session-of-one")).status == 201
    clock.advance(25 * 3600)
    await service.runner.drain()
    admin = await people.super_admin()
    assert (await admin.get("/api/v1/files")).json()["data"] == []
    assert (await send(holder, b"x", "a.txt")).status == 201
    for session_id in ("", "x" * 129):
        refused = await send(holder, b"x", "a.txt", session_id)
        assert (refused.status, list(refused.details)) == (422, ["session_id"])


async def test_a_visitor_does_not_learn_which_model_cannot_see(
    admin: Api, holder: Holder, provider: ProviderServer
) -> None:
    base = f"{provider.url}/v1"
    await add_key(admin, provider="mistral", api_key=KEY, base_url=base, models=["codestral-latest"])
    await change_agent(admin, holder.agent, primary_model="mistral/codestral-latest")
    file_id = (await send(holder, photo())).json()["file_id"]
    refused = await holder.say("Look", session_id=SESSION, attachments=refs(file_id))
    assert (refused.status, refused.code) == (422, "model_cannot_see")
    assert b"codestral" not in refused.body
