"""Names in a request that have no effect are told, wherever one chats."""

from typing import Any

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer
from tests.chat.background_jobs import accept, job_of
from tests.chat.speaking import path_of, reply_to, stream
from tests.client import Api
from tests.embed.keys import Holder, make_key

TOLD = ["ignored_field:temprature", "ignored_field:tools"]
UNKNOWN: dict[str, Any] = {"temprature": 0.2, "tools": [{"temperature": 1}]}


def ignored_warnings(warnings: list[str]) -> list[str]:
    return [warning for warning in warnings if warning.startswith("ignored_field:")]


async def test_they_are_told_in_replies_streams_and_jobs(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, service: Service
) -> None:
    reply = await reply_to(admin, agent, **UNKNOWN)
    heard = await stream(admin, agent, **UNKNOWN)
    accepted = await accept(admin, agent, **UNKNOWN)
    await service.runner.drain()
    job = await job_of(admin, agent, accepted)
    for warnings in (reply["warnings"], heard[-1].data["warnings"], job["result"]["warnings"]):
        assert ignored_warnings(warnings) == TOLD
    known = await reply_to(admin, agent, context={"unknown": 1}, conversation_id=reply["conversation_id"])
    assert ignored_warnings(known["warnings"]) == []


async def test_a_visitor_is_told_of_nothing_else(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    holder = Holder(admin, agent, await make_key(admin, agent))
    reply = (await holder.say(**UNKNOWN)).json()
    heard = await holder.hear(**UNKNOWN)
    assert reply["warnings"] == heard[-1].data["warnings"] == TOLD


async def test_only_the_first_twenty_are_told_and_long_names_are_cut(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    many = {f"{number:02}{'x' * 100}": number for number in range(30)}
    told = ignored_warnings(
        (await admin.post(path_of(agent), {"message": "Hello", **many})).json()["warnings"]
    )
    assert told == [f"ignored_field:{number:02}{'x' * 62}" for number in range(20)]
