"""A form from words: what a model says is checked like what a person says."""

import json

import pytest

from retinue.access.models import Role
from tests.adapters.llm_server import provider_server
from tests.factories.forms import PATH
from tests.factories.providers import add_key_for


@pytest.mark.either_database
async def test_a_model_writes_a_draft_and_nonsense_is_no_form(people) -> None:
    person = await people.signed_in(Role.tenant_admin)
    good = {
        "name": "Trip",
        "fields": [
            {"id": "to", "type": "text", "label": "Where to?", "required": True},
            {"id": "how", "type": "radio", "label": "How?"},
        ],
    }
    async with provider_server() as server:
        await add_key_for(person, server, models=["test-model"], is_default=True)
        server.says(f"Here it is:\n```json\n{json.dumps(good)}\n```")
        answer = await person.post(f"{PATH}/generate", {"prompt": "A form for trips"})
        assert answer.status == 201, answer
        form = answer.json()["data"]
        assert (form["name"], form["status"]) == ("Trip", "draft")
        assert [(field["id"], field["type"]) for field in form["fields"]] == [("to", "text"), ("how", "text")]
        for said in (
            "no",
            "{}",
            '{"name": "x", "fields": [{"type": "colour"}]}',
            '{"name": "x", "fields": [{"type": ["radio"]}]}',
            '{"name": "x", "fields": []}',
        ):
            server.says(said)
            answer = await person.post(f"{PATH}/generate", {"prompt": "A form"})
            assert (answer.status, answer.code) == (502, "model_error"), said
        (key,) = (await person.get("/api/v1/api-keys")).json()["data"]
        offered = {"models": ["a-text-embedding", "b-chat", "tts-1"]}
        assert (await person.put(f"/api/v1/api-keys/{key['id']}", offered)).status == 200
        server.says(json.dumps(good))
        assert (await person.post(f"{PATH}/generate", {"prompt": "A form"})).status == 201
        assert server.last.json["model"] == "b-chat", "others do not chat"
        answer = await person.post(f"{PATH}/generate", {"prompt": "A form", "model": "unheard-of"})
        assert (answer.status, answer.code) == (422, "model_not_configured")
    assert (await person.post(f"{PATH}/generate", {"prompt": ""})).status == 422
    assert (await person.get(PATH)).json()["pagination"]["total"] == 2
