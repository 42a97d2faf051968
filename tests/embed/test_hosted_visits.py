"""Hosted pages as visitors, members and strangers meet them."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.http import page_scripts
from tests.adapters.llm_replies import Reply
from tests.adapters.llm_server import hanging
from tests.adapters.recordings import plain_wav, tone
from tests.chat.listening import Listener
from tests.client import Api
from tests.embed.hosting import SESSION, PageVisitor, look_at, open_page, page_path, unfinished_reply
from tests.embed.keys import list_keys
from tests.factories.agents import make_agent
from tests.factories.providers import add_key_for

MAX_SCRIPT_BYTES = 25 * 1024
"""Limit of the compressed script, in bytes."""
SPENT = {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}


@pytest.fixture
async def service(make_service: Any) -> Service:
    return await make_service(stt_model="openai_compatible/whisper-1")


@pytest.fixture
async def agent(admin: Api, provider: Any) -> dict[str, Any]:
    await add_key_for(admin, provider, models=["test-model", "whisper-1"])
    model = "openai_compatible/test-model"
    return await make_agent(admin, name="Lamp desk", primary_model=model, status="published")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hosted.js").write_text("// built")
    monkeypatch.setattr(page_scripts, "PUBLIC_SCRIPTS", tmp_path)


@pytest.fixture
async def visitor(admin: Api, api: Api, agent: dict[str, Any]) -> PageVisitor:
    await open_page(admin, agent)
    return PageVisitor(api, agent, (await look_at(api))["page_key"])


async def test_a_visitor_chats_without_an_account(visitor, provider, admin, agent):
    provider.says("The small one fits.")
    answer = await visitor.send("chat", message="Which bulb?")
    assert (answer.status, answer.json()["assistant_reply"]["content"]) == (200, "The small one fits.")
    page = (await admin.get(page_path(agent))).json()
    (key,) = await list_keys(admin, agent_id=agent["id"])
    assert page["figures"]["chats"] == page["figures"]["opened"] == 1
    assert page["figures"]["tokens_used"] == key["tokens_used"] > 0


async def test_only_the_page_itself_may_use_what_it_sends(visitor):
    for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        visitor.headers = {"Authorization": visitor.headers["Authorization"], **headers}
        assert (await visitor.send("chat", message="Hello")).status == 403


async def test_the_look_is_sent_once(api, admin, agent):
    await open_page(admin, agent)
    await admin.put(f"/api/v1/agents/{agent['id']}/widget", {"greeting": "How can we help?"})
    first = await api.get("/api/v1/public/pages/lamp-desk")
    assert first.json()["settings"]["greeting"] == "How can we help?"
    assert "openai" not in first.body.decode()
    assert "system_prompt" not in first.json()
    tag = first.headers["etag"]
    again = await api.get("/api/v1/public/pages/lamp-desk", headers={"If-None-Match": tag})
    assert (again.status, again.body) == (304, b"")
    await admin.put(f"/api/v1/agents/{agent['id']}/widget", {"greeting": "Yes?"})
    changed = await api.get("/api/v1/public/pages/lamp-desk", headers={"If-None-Match": tag})
    assert (changed.status, changed.json()["settings"]["greeting"]) == (200, "Yes?")


async def test_switched_off_the_page_and_what_it_sent_are_gone_at_once(visitor, api, admin, agent):
    assert (await visitor.send("chat", message="Hello")).status == 200
    await admin.delete(page_path(agent))
    assert (await visitor.send("chat", message="Hello")).status == 401
    assert (await api.get("/api/v1/public/pages/lamp-desk")).code == "hosted_page_not_found"
    await open_page(admin, agent)
    assert (await visitor.send("chat", message="Hello")).status == 401, "the old page key stays dead"
    (key,) = await list_keys(admin, agent_id=agent["id"])
    await admin.delete(f"/api/v1/embed/api-keys/{key['id']}")
    assert (await api.get("/api/v1/public/pages/lamp-desk")).status == 404


async def test_a_spent_budget_says_when_the_page_opens_again(api, admin, agent, provider, clock):
    await open_page(admin, agent, monthly_token_budget=60)
    visitor = PageVisitor(api, agent, (await look_at(api))["page_key"])
    provider.otherwise = lambda _: Reply("Hello.", usage=SPENT)
    assert (await visitor.send("chat", message="Hello")).status == 200
    assert (await visitor.send("chat", message="Hello")).status == 429
    opens_at = (await look_at(api))["opens_at"]
    assert opens_at[8:] == "01T00:00:00.000000Z"
    assert opens_at > clock.now()


async def test_a_visitor_has_a_limit_of_messages(api, admin, agent):
    await open_page(admin, agent, rate_limit_per_visitor=1)
    key = (await look_at(api))["page_key"]
    said = [await PageVisitor(api, agent, key).send("chat", message="Hello") for _ in range(2)]
    assert [answer.status for answer in said] == [200, 429]
    elsewhere = PageVisitor(api.at("198.51.100.9"), agent, key)
    assert (await elsewhere.send("chat", message="Hello")).status == 200


async def test_a_page_for_members_says_nothing_before_they_sign_in(api, admin, agent, people):
    await open_page(admin, agent, audience="members")
    shown = await look_at(api)
    assert {name: value for name, value in shown.items() if value} == {"audience": "members"}
    assert await list_keys(admin, agent_id=agent["id"]) == []
    inside = await admin.get("/api/v1/chat/pages/lamp-desk")
    assert (inside.json()["agent"]["name"], inside.json()["page_key"]) == ("Lamp desk", None)
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant())
    assert (await stranger.get("/api/v1/chat/pages/lamp-desk")).status == 404
    assert (await api.get("/api/v1/chat/pages/lamp-desk")).status == 401


async def test_a_visitor_stops_a_reply(visitor, provider):
    provider.fails(hanging(unfinished_reply(b"For ever")))
    body = {"session_id": SESSION, "message": "How long?", "stream": True}
    listener = Listener(visitor.api, f"{visitor.path}/chat", body, headers=visitor.headers)
    await listener.until("content_delta")
    reply = {"message_id": listener.events[0].data["message_id"]}
    other = await visitor.send("stop", **reply, session_id="another-session-of-all")
    assert other.status == 404
    assert (await visitor.send("stop", **reply)).json() == {**reply, "status": "cancelled"}
    await listener.end()
    assert listener.events[-1].data["finish_reason"] == "cancelled"


async def test_a_visitor_rates_only_replies_of_the_session(visitor, admin, agent):
    said = (await visitor.send("chat", message="Hello")).json()
    rating = {"message_id": said["assistant_reply"]["id"], "rating": "negative", "reasons": ["wrong"]}
    assert (await visitor.send("feedback", **rating, session_id="another-session-of-all")).status == 404
    assert (await visitor.send("feedback", **rating)).status == 200
    messages = (await admin.get(f"/api/v1/conversations/{said['conversation_id']}/messages")).json()["data"]
    assert messages[-1]["feedback"]["rating"] == "negative"
    assert (await visitor.send("feedback", **{**rating, "message_id": messages[0]["id"]})).status == 404


async def test_a_visitor_speaks(visitor, provider, admin, agent):
    provider.says("I heard you.")
    answer = await visitor.speak(plain_wav(tone(0.1)))
    assert answer.status == 200, answer
    assert answer.json()["assistant_reply"]["content"] == "I heard you."
    assert answer.json()["transcription"]["text"].startswith("audio.wav has")
    (key,) = await list_keys(admin, agent_id=agent["id"])
    assert key["tokens_used"] > 0
    await admin.patch(f"/api/v1/embed/api-keys/{key['id']}", {"allow_attachments": False})
    assert (await visitor.speak(plain_wav(tone(0.1)))).status == 403


async def test_the_script_of_the_page_is_small(api):
    answer = await api.get("/embed/hosted.js")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert len(gzip.compress(answer.body)) <= MAX_SCRIPT_BYTES
    font = await api.get("/embed/display.woff2")
    assert (font.status, font.headers["content-type"], font.body[:4]) == (200, "font/woff2", b"wOF2")
    style = await api.get("/embed/hosted.css")
    assert (style.status, b"display.woff2" in style.body) == (200, True)


@pytest.mark.usefixtures("built")
async def test_the_document_is_strict_and_never_kept(api, admin, agent):
    await open_page(admin, agent)
    logo = {"title": "<b>Brass</b>", "logo_url": "https://brass.example/logo.png", "accent": "#1f5245"}
    await admin.put(f"/api/v1/agents/{agent['id']}/widget", logo)
    answer = await api.get("/c/lamp-desk")
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "img-src 'self' blob: https://brass.example;" in policy
    assert ("frame-ancestors 'none'" in policy, "unsafe" in policy) == (True, False)
    assert b"&lt;b&gt;Brass" in answer.body
    assert b"<b>Brass" not in answer.body
    assert ("set-cookie" in answer.headers, b"/console/" in answer.body) == (False, False)


@pytest.mark.usefixtures("built")
async def test_a_phone_can_install_the_page(api, admin, agent):
    await open_page(admin, agent)
    await admin.put(f"/api/v1/agents/{agent['id']}/widget", {"accent": "#1f5245"})
    manifest = (await api.get("/c/lamp-desk/manifest.webmanifest")).json()
    assert (manifest["name"], manifest["display"]) == ("Lamp desk", "standalone")
    icon = await api.get("/c/lamp-desk/icon.svg")
    assert (icon.headers["content-type"], b"#1f5245" in icon.body) == ("image/svg+xml", True)
    await open_page(admin, agent, audience="members")
    assert (await api.get("/c/lamp-desk/manifest.webmanifest")).json()["name"] == "Chat"
    assert b"#1f5245" not in (await api.get("/c/lamp-desk/icon.svg")).body
    assert b"Lamp desk" not in (await api.get("/c/lamp-desk")).body


@pytest.mark.parametrize("slug", ["nobody", "LAMP-DESK", "%2e%2e", "%3Cscript%3E", "a" * 200, "lamp-desk%20"])
async def test_unknown_addresses_are_told_so_in_words(api, admin, agent, slug):
    await open_page(admin, agent)
    answer = await api.get(f"/c/{slug}", headers={"Accept": "text/html"})
    assert (answer.status, b"There is no chat here" in answer.body) == (404, True)
    assert b"script" not in answer.body
    assert (await api.get(f"/c/{slug}")).code == "hosted_page_not_found"
    assert (await api.get(f"/api/v1/public/pages/{slug}")).status == 404


async def test_without_the_script_the_page_says_how_to_get_it(api, admin, agent, tmp_path, monkeypatch):
    monkeypatch.setattr(page_scripts, "PUBLIC_SCRIPTS", tmp_path / "nowhere")
    await open_page(admin, agent)
    for address in ("/c/lamp-desk", "/embed/hosted.js", "/embed/page-preview"):
        answer = await api.get(address)
        assert (answer.status, answer.body.decode().strip()) == (503, page_scripts.NOT_BUILT)


async def test_a_deleted_agent_takes_its_page_along(api, admin, agent):
    await open_page(admin, agent)
    assert (await admin.delete(f"/api/v1/agents/{agent['id']}?force=true")).status in {200, 204}
    assert (await api.get("/api/v1/public/pages/lamp-desk")).status == 404
    other = await make_agent(admin, name="Other", status="published")
    assert (await open_page(admin, other))["slug"] == "lamp-desk"
