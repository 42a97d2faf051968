"""Files that an agent node sends with its message."""

from typing import Any

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer, provider_server
from tests.chat.attaching import chats_of, images_in, photo, refs, seeing_agent, upload
from tests.client import Api
from tests.factories.workflows import by_node, make_workflow, node, run

Json = dict[str, Any]


def look(agent: Json, attachments: Any) -> Json:
    return node("look", "agent", agent_id=agent["id"], message="What is this?", attachments=attachments)


async def test_an_agent_node_sends_files(service: Service, admin: Api) -> None:
    async with provider_server() as provider:
        agent = await seeing_agent(admin, provider, "openai")
        file_id = await upload(admin, "a.jpg", photo())
        flow = await make_workflow(admin, look(agent, [{"file_id": "{{input.file_id}}"}]))
        ended = await run(service, admin, flow, {"file_id": file_id})
        assert ended["status"] == "completed", ended
        assert len(images_in(chats_of(provider)[-1])) == 1
        ended = await run(service, admin, flow, {"file_id": "file_of_nobody"})
        assert by_node(ended)["look"]["error"]["code"] == "file_not_found"
        broken = await upload(admin, "a.png", b"\x89PNG\r\n\x1a\n" + b"broken")
        ended = await run(service, admin, flow, {"file_id": broken})
        assert by_node(ended)["look"]["error"]["code"] == "validation_error"


async def test_what_is_no_list_of_files_fails_the_node(
    service: Service, admin: Api, agent: Json, provider: ProviderServer
) -> None:
    flow = await make_workflow(admin, look(agent, "{{input.files}}"))
    ended = await run(service, admin, flow, {"files": refs(*["file_x"] * 11)})
    assert by_node(ended)["look"]["error"]["code"] == "invalid_config"
    assert chats_of(provider) == []
