"""A form from words: what a model says is checked like what a person says."""

import json

import pytest

from retinue.access.models import Role
from tests.adapters.llm_server import provider_server
from tests.factories.forms import PATH
from tests.factories.providers import add_key_for

GOOD = {
    "name": "Trip",
    "fields": [
        {"id": "to", "type": "text", "label": "Where to?", "required": True},
        {"id": "how", "type": "radio", "label": "How?"},
    ],
}


@pytest.fixture
async def person(people):
    return await people.signed_in(Role.tenant_admin)


@pytest.fixture
async def model(person):
    async with provider_server() as server:
        await add_key_for(person, server, models=["test-model"], is_default=True)
        yield server


async def count_forms(person) -> int:
    return (await person.get(PATH)).json()["pagination"]["total"]


@pytest.mark.either_database
async def test_a_model_writes_a_draft(person, model) -> None:
    model.says(f"Here it is:\n```json\n{json.dumps(GOOD)}\n```")
    answer = await person.post(f"{PATH}/generate", {"prompt": "A form for trips"})
    assert answer.status == 201, answer
    form = answer.json()["data"]
    assert (form["name"], form["status"]) == ("Trip", "draft")
    assert [(field["id"], field["type"]) for field in form["fields"]] == [("to", "text"), ("how", "text")]
    assert await count_forms(person) == 1


@pytest.mark.either_database
async def test_an_answer_of_a_model_that_is_no_form_is_an_error(person, model) -> None:
    for said in (
        "no",
        "{}",
        '{"name": "x", "fields": [{"type": "colour"}]}',
        '{"name": "x", "fields": [{"type": ["radio"]}]}',
        '{"name": "x", "fields": []}',
    ):
        model.says(said)
        answer = await person.post(f"{PATH}/generate", {"prompt": "A form"})
        assert (answer.status, answer.code) == (502, "model_error"), said
    assert await count_forms(person) == 0


@pytest.mark.either_database
async def test_the_model_that_writes_a_form_is_one_that_chats(person, model) -> None:
    (key,) = (await person.get("/api/v1/api-keys")).json()["data"]
    offered = {"models": ["a-text-embedding", "b-chat", "tts-1"]}
    assert (await person.put(f"/api/v1/api-keys/{key['id']}", offered)).status == 200
    model.says(json.dumps(GOOD))
    assert (await person.post(f"{PATH}/generate", {"prompt": "A form"})).status == 201
    assert model.last.json["model"] == "b-chat", "others do not chat"


@pytest.mark.either_database
async def test_an_unknown_model_and_an_empty_prompt_are_refused(person, model) -> None:
    answer = await person.post(f"{PATH}/generate", {"prompt": "A form", "model": "unheard-of"})
    assert (answer.status, answer.code) == (422, "model_not_configured")
    assert (await person.post(f"{PATH}/generate", {"prompt": ""})).status == 422
    assert await count_forms(person) == 0
