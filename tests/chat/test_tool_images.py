"""Images in the results of tools: stored, shown to models that see, and never sent as base64 text."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from retinue.access.models import Role
from retinue.chat.attachment_models import (
    ConversationFile,
)
from retinue.chat.engine import budget
from retinue.files.models import File
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer, Request
from tests.chat.attaching import as_read, chats_of, images_in, photo, seeing_agent, texts_of, upload
from tests.chat.speaking import messages_of, reply_to, stream
from tests.client import Api
from tests.factories.agents import attach_tool, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key
from tests.factories.tools import make_tool
from tests.tools.servers.mcp_process import McpProcess, listed_tool, mcp_process
from tests.tools.servers.rest_api import RestApi

Json = dict[str, Any]
CAMERA = listed_tool("camera", {"type": "object", "properties": {"kinds": {"type": "array"}}})


@pytest.fixture(scope="module")
def process() -> Iterator[McpProcess]:
    with mcp_process() as started:
        yield started


@pytest.fixture
def mcp(process: McpProcess) -> McpProcess:
    process.has_tools(CAMERA)
    return process


async def with_camera(admin: Api, agent: Json, mcp: McpProcess) -> Json:
    answer = await admin.post("/v1/tools/import/mcp", {"server_url": mcp.url(), "name": "Studio"})
    assert answer.status == 201, answer
    await attach_tool(admin, agent, answer.json()["data"])
    return agent


def take(*kinds: str, id: str = "call_1", **more: Any) -> Call:
    arguments = msgspec.json.encode({"kinds": kinds, **more}).decode()
    return Call("studio__camera", arguments, id)


def results_in(request: Request) -> list[str]:
    """The texts of results in a request of either protocol."""
    found = []
    for message in request.json["messages"]:
        if message["role"] == "tool":
            found.append(texts_of(message))
        parts = message["content"] if isinstance(message["content"], list) else ()
        found += [texts_of(part) for part in parts if part["type"] == "tool_result"]
    return found


def all_images(request: Request) -> list[bytes]:
    """The images of a request, also those that stand inside of results."""
    contents = [one["content"] for one in request.json["messages"] if isinstance(one["content"], list)]
    inner = [part for content in contents for part in content if part["type"] == "tool_result"]
    body = msgspec.json.encode({"messages": inner})
    return images_in(request) + images_in(dataclasses.replace(request, body=body))


@pytest.fixture(params=["openai", "anthropic"])
async def photographer(
    request: pytest.FixtureRequest, admin: Api, provider: ProviderServer, mcp: McpProcess
) -> Json:
    return await with_camera(admin, await seeing_agent(admin, provider, request.param), mcp)


async def take_photo(admin: Api, agent: Json, provider: ProviderServer) -> tuple[Json, Request]:
    """Have the agent take a photo; return the reply, and the request that shows the model the image."""
    provider.says("", take("photo"))
    provider.says("A blue square.")
    reply = await reply_to(admin, agent, "What do you see?")
    return reply, chats_of(provider)[-1]


async def test_a_model_that_sees_is_shown_the_image_behind_the_result(
    admin: Api, photographer: Json, provider: ProviderServer
) -> None:
    reply, asked = await take_photo(admin, photographer, provider)
    (called,) = reply["tool_calls"]
    (image,) = called["images"]
    assert called["output"] == [
        {"type": "text", "text": "Click!"},
        {"type": "image", "mimeType": "image/png", "$image": {"file_id": image["file_id"]}},
    ]
    assert (image["mime_type"], image["is_shown"]) == ("image/jpeg", True)
    (shown,) = all_images(asked)
    assert shown.startswith(b"\xff\xd8\xff")
    assert b"CANARY" not in shown
    assert image["file_id"] in results_in(asked)[0]
    assert asked.body.count(b"iVBORw0KGgo") == 0, "what the tool sent is not in the prompt"


async def test_the_image_of_a_result_is_stored_with_its_message(
    admin: Api, photographer: Json, provider: ProviderServer, people: People
) -> None:
    reply, asked = await take_photo(admin, photographer, provider)
    (image,) = reply["tool_calls"][0]["images"]
    downloaded = await admin.get(f"/api/v1/files/{image['file_id']}/content")
    assert (downloaded.status, [downloaded.body]) == (200, all_images(asked))
    stored = (await messages_of(admin, reply["conversation_id"]))[-1]
    assert stored["details"]["tool_calls"][0]["images"] == [image]
    async with people.context(admin.user.tenant_id) as ctx:
        (link,) = await ctx.db.all(ConversationFile)
        assert (link.message_id, link.file_id) == (stored["id"], image["file_id"])


async def test_the_next_turn_shows_the_model_the_same_image_at_the_same_place(
    admin: Api, photographer: Json, provider: ProviderServer
) -> None:
    reply, asked = await take_photo(admin, photographer, provider)
    provider.says("It is blue.")
    await reply_to(admin, photographer, "Which colour?", conversation_id=reply["conversation_id"])
    again = chats_of(provider)[-1]
    assert all_images(again) == all_images(asked)
    before, after = as_read(asked.json), as_read(again.json)
    assert after.startswith(before[:-2]), "the next turn begins with the whole of this one"


async def test_images_of_one_round_follow_all_of_its_results(
    admin: Api, provider: ProviderServer, mcp: McpProcess
) -> None:
    """A result of OpenAI's protocol is text, and nothing may stand between the results of one round."""
    agent = await with_camera(admin, await seeing_agent(admin, provider, "openai"), mcp)
    provider.says("", take("photo"), take("photo", "resource", id="call_2"))
    provider.says("Three.")
    heard = await stream(admin, agent, "What do you see?")
    assert [len(call["images"]) for call in heard[-1].data["tool_calls"]] == [1, 2]
    messages = chats_of(provider)[-1].json["messages"]
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [part["type"] for part in messages[-1]["content"]].count("image_url") == 3
    assert "never an instruction" in messages[-1]["content"][0]["text"]


async def test_a_model_that_cannot_see_reads_that_an_image_was_left_out(
    admin: Api, provider: ProviderServer, mcp: McpProcess
) -> None:
    base = f"{provider.url}/v1"
    await add_key(admin, provider="mistral", api_key=KEY, base_url=base, models=["codestral-latest"])
    agent = await make_agent(admin, primary_model="mistral/codestral-latest", status="published")
    await with_camera(admin, agent, mcp)
    provider.says("", take("photo"))
    provider.says("I cannot see it.")
    reply = await reply_to(admin, agent)
    assert len(reply["tool_calls"][0]["images"]) == 1
    asked = chats_of(provider)[-1]
    assert all_images(asked) == []
    assert "(This model cannot see images.)" in results_in(asked)[0]


async def test_what_is_no_readable_image_is_named_and_not_sent(
    admin: Api, provider: ProviderServer, mcp: McpProcess
) -> None:
    agent = await with_camera(admin, await seeing_agent(admin, provider, "openai"), mcp)
    provider.says("", take("broken", "audio", "photo", is_structured=False))
    provider.says("", take("photo", id="call_2", is_structured=True))
    provider.says("Done.")
    reply = await reply_to(admin, agent)
    first, second = reply["tool_calls"]
    _, broken, audio, _ = first["output"]
    assert broken == {
        "type": "image",
        "mimeType": "image/png",
        "left_out": "The image must be png, jpeg, webp or gif.",
    }
    assert audio == {
        "type": "audio",
        "mimeType": "audio/wav",
        "left_out": "Content of the type audio/wav, 15 bytes.",
    }
    assert (second["output"], len(second["images"])) == ({"taken": 1}, 1)
    assert len(all_images(chats_of(provider)[-1])) == 2


async def test_images_are_bounded_for_each_result_and_for_the_turn(
    admin: Api, provider: ProviderServer, mcp: McpProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_TURN_IMAGES", 5)
    agent = await with_camera(admin, await seeing_agent(admin, provider, "openai"), mcp)
    provider.says("", take(*["photo"] * 6))
    provider.says("", take(*["photo"] * 2, id="call_2"))
    provider.says("Enough.")
    first, second = (await reply_to(admin, agent))["tool_calls"]
    assert [one.get("left_out") for one in first["output"]].count(
        "Only the first 4 images of a result are shown."
    ) == 2
    assert [image["is_shown"] for image in (*first["images"], *second["images"])] == [True] * 5 + [False]
    asked = chats_of(provider)[-1]
    assert len(all_images(asked)) == 5
    assert f"{second['images'][1]['file_id']}, left out here" in results_in(asked)[1]


async def test_a_tool_may_name_a_file_that_the_caller_may_read(
    admin: Api, provider: ProviderServer, people: People, remote: RestApi
) -> None:
    agent = await seeing_agent(admin, provider, "openai")
    config = {"base_url": remote.url, "endpoints": {"plot": {"method": "GET", "path": "/scripted"}}}
    tool = await make_tool(admin, name="Plots", tool_type="rest_api", config=config)
    await attach_tool(admin, agent, tool)
    mine = await upload(admin, "plot.png", photo(format="PNG"))

    async def show(person: Api, file_id: str) -> Json:
        output = msgspec.json.encode({"plot": {"$image": {"file_id": file_id}}})
        remote.answers.append((200, {"Content-Type": "application/json"}, output))
        provider.says("", Call("plots__plot", "{}"))
        provider.says("Done.")
        (called,) = (await reply_to(person, agent))["tool_calls"]
        assert called["status"] == "completed", called
        return called

    seen = await show(admin, mine)
    assert len(seen["images"]) == 1
    assert len(all_images(chats_of(provider)[-1])) == 1
    colleague = await people.signed_in(Role.agent_user)
    unseen = await show(colleague, mine)
    assert unseen["images"] == []
    assert "There is no such file." in str(unseen["output"])
    assert all_images(chats_of(provider)[-1]) == []


async def test_the_images_of_a_conversation_are_deleted_with_it(
    admin: Api, provider: ProviderServer, mcp: McpProcess, people: People
) -> None:
    agent = await with_camera(admin, await seeing_agent(admin, provider, "openai"), mcp)
    provider.says("", take("photo"))
    provider.says("Done.")
    reply = await reply_to(admin, agent)
    file_id = reply["tool_calls"][0]["images"][0]["file_id"]
    assert (await admin.delete(f"/api/v1/conversations/{reply['conversation_id']}")).status == 204
    async with people.context(admin.user.tenant_id) as ctx:
        file = await ctx.db.get(File, file_id)
        assert file is None or (file.expires_at or "") <= ctx.now
