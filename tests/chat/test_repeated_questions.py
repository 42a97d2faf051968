"""A question with an `Idempotency-Key` that is cut off and asked again is stored once, and answered once."""

from collections.abc import Iterator
from typing import Any

import pytest

from retinue.kit import failpoints
from tests.adapters.llm_server import ProviderServer, refusing
from tests.client import Api, Response

KEY = {"Idempotency-Key": "once"}


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


async def ask(api: Api, agent: dict[str, Any], **more: Any) -> Response:
    body = {"message": "Hi", **more}
    return await api.post(f"/api/v1/agents/{agent['id']}/chat", body, headers=KEY)


async def list_texts(api: Api) -> list[list[str]]:
    """Return the texts of the messages of every conversation."""
    found = (await api.get("/api/v1/conversations")).json()["data"]
    listed = [(await api.get(f"/api/v1/conversations/{one['id']}/messages")).json()["data"] for one in found]
    return [[message["content"] for message in one] for one in listed]


@pytest.mark.parametrize(("place", "asked"), [("after_step", 1), ("before_answer_kept", 1)])
async def test_a_question_that_was_cut_off_is_stored_once(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, place: str, asked: int
) -> None:
    provider.says("Hello.")
    failpoints.arm(f"{place}:1:error")
    assert (await ask(admin, agent)).status == 500
    failpoints.arm("")
    answer = await ask(admin, agent)
    assert answer.status == 200, answer
    assert answer.json()["message"]["content"] == "Hello."
    assert await list_texts(admin) == [["Hi", "Hello."]]
    assert len(provider.requests) == asked
    assert (await ask(admin, agent)).body == answer.body


async def test_a_question_that_a_model_failed_at_is_asked_again(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(*[refusing(500)] * 10)
    assert (await ask(admin, agent)).status >= 500
    provider.faults.clear()
    provider.says("Hello.")
    assert (await ask(admin, agent)).json()["message"]["content"] == "Hello."
    assert await list_texts(admin) == [["Hi", "Hello."]]
