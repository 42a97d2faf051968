"""Testing a key really asks its provider, and tells and remembers what came of it."""

import pytest
from structlog.testing import capture_logs

from retinue.kit.text.redaction import MASK
from tests.adapters.llm_server import KEY, provider_server, refusing, resetting
from tests.factories.happenings import events, only_event
from tests.factories.people import People
from tests.factories.providers import PATH, add_key, add_key_for
from tests.kit.egress_targets import REFUSED_HOSTS

pytestmark = pytest.mark.either_database

WRONG = "sk-wrong-0123456789-CANARY-abcd"
INVALIDATED = "system.api_key.invalidated"


async def run_test(person, key) -> dict:
    answer = await person.post(f"{PATH}/{key['id']}/test")
    assert answer.status == 200, answer
    found = answer.json()
    assert list(found) == ["success", "message", "latency_ms", "models"]
    return found


async def read(person, key) -> dict:
    return (await person.get(f"{PATH}/{key['id']}")).json()


@pytest.mark.parametrize("protocol", ["openai", "openai_compatible", "anthropic", "ollama", "azure_openai"])
async def test_the_right_key_passes_and_its_models_are_known(admin, provider, protocol) -> None:
    key = await add_key_for(admin, provider, provider=protocol)
    found = await run_test(admin, key)
    assert found["success"] is True
    assert found["models"] == sorted(found["models"]) != []
    assert found["message"] == f"The key works and can use {len(found['models'])} models."
    assert found["latency_ms"] >= 0
    after = await read(admin, key)
    assert after["is_valid"] is True
    assert after["last_tested_at"] > key["created_at"]
    assert after["updated_at"] == key["updated_at"]
    assert provider.last.method == "GET"


async def test_a_wrong_key_fails_and_is_not_repeated_anywhere(admin, people, provider) -> None:
    key = await add_key_for(admin, provider, api_key=WRONG)
    with capture_logs() as logs:
        answer = await admin.post(f"{PATH}/{key['id']}/test")
    found = answer.json()
    assert (found["success"], found["models"]) == (False, [])
    assert "rejected the API key (401)" in found["message"]
    assert f"provided: {MASK}" in found["message"]
    assert (await read(admin, key))["is_valid"] is False
    told = await only_event(people, INVALIDATED)
    assert told["api_key_id"] == key["id"]
    for shown in (answer.body.decode(), repr(logs), repr(told)):
        assert WRONG not in shown
    await run_test(admin, key)
    assert len(await events(people, INVALIDATED)) == 1


async def test_entering_another_key_gives_it_a_new_chance(admin, provider) -> None:
    key = await add_key_for(admin, provider, api_key=WRONG)
    await run_test(admin, key)
    changed = (await admin.put(f"{PATH}/{key['id']}", {"api_key": KEY})).json()
    assert (changed["is_valid"], changed["last_tested_at"]) == (True, None)
    assert (await run_test(admin, changed))["success"] is True


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (refusing(503, {"error": {"message": "Overloaded"}}), "failed or is overloaded (503): Overloaded"),
        (refusing(429, b"", Retry_After="30"), "rate limit is reached"),
        (refusing(200, b"<html>Welcome</html>"), "unexpected response"),
        (refusing(302, b"", Location="http://127.0.0.1:1/"), "unexpected response"),
    ],
    ids=["503", "429", "a web page", "a redirect"],
)
async def test_a_provider_in_trouble_fails_the_test_in_plain_words(admin, provider, fault, message) -> None:
    key = await add_key_for(admin, provider)
    provider.fails(fault)
    found = await run_test(admin, key)
    assert found["success"] is False
    assert message in found["message"]
    assert (await read(admin, key))["is_valid"] is False
    assert (await run_test(admin, key))["success"] is True
    assert (await read(admin, key))["is_valid"] is True


async def test_a_provider_that_hangs_up_fails_the_test(admin, provider) -> None:
    key = await add_key_for(admin, provider)
    # A GET is sent a second time by itself when the connection breaks.
    provider.fails(resetting(), resetting())
    assert "could not be reached" in (await run_test(admin, key))["message"]


async def test_a_key_among_the_names_of_models_is_masked(admin, provider) -> None:
    key = await add_key_for(admin, provider)
    named = [{"id": f"model-{KEY}"}, {"id": "x" * 300}, {"id": "good"}, {"id": ""}, {"id": "two\nlines"}]
    provider.fails(refusing(200, {"object": "list", "data": named}, Content_Type="application/json"))
    assert (await run_test(admin, key))["models"] == ["good", f"model-{MASK}"]
    listed = await admin.get("/api/v1/models")
    assert KEY.encode() not in listed.body


async def test_what_has_nothing_to_ask_with_fails(admin) -> None:
    key = await add_key(admin, provider="local", api_key=None)
    assert (await run_test(admin, key))["success"] is False


async def test_a_private_address_is_not_called_from_a_public_instance(make_service) -> None:
    service = await make_service(base_url="https://retinue.example.com")
    admin = await People(service).super_admin()
    saved = 0
    async with provider_server() as canary:
        found = await run_test(admin, await add_key_for(admin, canary))
        assert (found["success"], found["message"]) == (False, "The URL must be https.")
        for host in REFUSED_HOSTS:
            body = {"provider": "ollama", "base_url": f"https://{host}:{canary.port}/v1"}
            answer = await admin.post(PATH, body)
            if answer.status == 201:
                saved += 1
                assert (await run_test(admin, answer.json()))["success"] is False
            else:
                assert list(answer.details) == ["base_url"]
        assert canary.connections == 0
    assert saved > 30
