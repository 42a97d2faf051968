"""A secret goes only where it was entered for (T1): moving the address does not move the secret."""

import pytest

from retinue.access.models import Role
from retinue.adapters.llm import ChatRequest, ModelMessage
from retinue.credentials.errors import CredentialAccessDenied, CredentialUnusable, DestinationChanged
from retinue.providers import model_calls
from tests.adapters.llm_server import KEY
from tests.factories import credentials
from tests.factories.happenings import only_event
from tests.factories.providers import PATH, add_key, add_key_for
from tests.factories.spending import unlimited_hold

pytestmark = pytest.mark.either_database

MODEL = "openai_compatible/gpt-4o-mini"
FAILED = (False, "The secret was entered for another destination. Enter it again to send it here.")
REQUEST = ChatRequest(model=MODEL, messages=(ModelMessage(role="user", content="Hello"),))


async def run_test(person, key) -> tuple[bool, str]:
    found = (await person.post(f"{PATH}/{key['id']}/test")).json()
    return found["success"], found["message"]


async def change(person, key, **body) -> dict:
    answer = await person.put(f"{PATH}/{key['id']}", body)
    assert answer.status == 200, answer
    return answer.json()


@pytest.fixture
async def clerk(people, admin):
    """Someone who may change keys but not read secrets."""
    answer = await admin.put(
        "/roles/viewer/permissions", {"permissions": ["api_keys:read", "api_keys:write", "agents:read"]}
    )
    assert answer.status == 200
    return await people.signed_in(Role.viewer, await people.default_tenant())


async def test_a_key_does_not_follow_a_changed_address(admin, clerk, ctx, provider, second) -> None:
    key = await add_key_for(admin, provider)
    moved = await change(clerk, key, base_url=f"{second.url}/v1")
    assert moved["base_url"] == f"{second.url}/v1"
    assert await run_test(clerk, key) == FAILED
    assert await run_test(admin, key) == FAILED
    with pytest.raises(DestinationChanged):
        await model_calls.chat(ctx, REQUEST, hold=unlimited_hold())
    assert second.connections == 0


async def test_a_key_of_a_known_provider_does_not_follow_either(admin, clerk, second) -> None:
    key = await add_key(admin)
    await change(clerk, key, base_url=f"{second.url}/v1")
    assert await run_test(clerk, key) == FAILED
    assert second.connections == 0


async def test_back_at_its_address_the_key_works_again(admin, clerk, provider, second) -> None:
    key = await add_key_for(admin, provider)
    await change(clerk, key, base_url=f"{second.url}/v1")
    await change(clerk, key, base_url=f"{provider.url}/other/v1")
    assert (await run_test(clerk, key))[0] is True


async def test_a_key_that_is_entered_again_goes_to_the_new_address(
    admin, clerk, people, provider, second
) -> None:
    key = await add_key_for(admin, provider)
    await change(clerk, key, base_url=f"{second.url}/v1", api_key=KEY)
    assert (await run_test(clerk, key))[0] is True
    assert (provider.connections, second.connections) == (0, 1)
    told = await only_event(people, "system.api_key.updated")
    assert (told["changed"], told["destination"]) == (["api_key", "base_url"], second.url)


async def test_who_may_reveal_secrets_may_move_a_key(admin, people, provider, second) -> None:
    key = await add_key_for(admin, provider)
    await change(admin, key, base_url=f"{second.url}/v1")
    assert (await run_test(admin, key))[0] is True
    told = await only_event(people, "system.api_key.updated")
    assert (told["changed"], told["destination"]) == (["base_url"], second.url)


@pytest.mark.parametrize("is_in_vault", [False, True])
async def test_who_renames_a_key_has_not_agreed_to_its_address(
    admin, clerk, provider, second, is_in_vault
) -> None:
    held = await credentials.create(admin, secrets={"api_key": KEY})
    secret = {"api_key": None, "credential_id": held["id"]} if is_in_vault else {}
    key = await add_key_for(admin, provider, **secret)
    moved = await change(clerk, key, base_url=f"{second.url}/v1")
    await change(admin, key, name="Renamed", base_url=moved["base_url"], priority=3)
    assert await run_test(admin, key) == FAILED
    assert second.connections == 0


async def test_a_key_cannot_be_moved_in_steps(admin, clerk, provider, second) -> None:
    key = await add_key_for(admin, provider)
    await change(clerk, key, base_url=f"{second.url}/v1")
    await change(clerk, key, name="Renamed", base_url=f"{second.url}/v1")
    await change(clerk, key, models=["gpt-4o-mini"])
    answer = await clerk.put(f"{PATH}/{key['id']}", {"credential_id": None})
    assert answer.status == 200
    assert await run_test(clerk, key) == FAILED
    assert second.connections == 0


@pytest.mark.parametrize(("type", "name"), [("api_key", "api_key"), ("bearer_token", "token")])
async def test_a_credential_of_the_vault_serves_as_key(admin, ctx, provider, type, name) -> None:
    held = await credentials.create(admin, type, secrets={name: KEY})
    key = await add_key_for(admin, provider, api_key=None, credential_id=held["id"])
    assert key["key_prefix"] == "…" + KEY[-4:]
    assert (await run_test(admin, key))[0] is True
    assert (
        await model_calls.chat(ctx, REQUEST, hold=unlimited_hold(), via={"agent_id": "agt_1"})
    ).text == "You said: Hello"
    *_, tested, used = await credentials.trail(admin, held["id"])
    by_key = {"tool_id": None, "agent_id": None, "execution_id": None, "api_key_id": key["id"]}
    assert (tested["action"], tested["via"]) == ("used", by_key)
    assert used["via"] == {**by_key, "agent_id": "agt_1"}
    usage = (await admin.get(f"{credentials.PATH}/{held['id']}/usage")).json()["data"]
    assert usage["api_keys"] == [{"id": key["id"], "name": key["name"]}]


async def test_a_credential_does_not_follow_a_changed_address(admin, clerk, ctx, provider, second) -> None:
    held = await credentials.create(admin, secrets={"api_key": KEY})
    key = await add_key_for(admin, provider, api_key=None, credential_id=held["id"])
    await change(clerk, key, base_url=f"{second.url}/v1")
    assert await run_test(clerk, key) == FAILED
    with pytest.raises(DestinationChanged):
        await model_calls.chat(ctx, REQUEST, hold=unlimited_hold())
    answer = await clerk.post(
        PATH,
        {"provider": "openai_compatible", "base_url": f"{second.url}/v1", "credential_id": held["id"]},
    )
    assert answer.status == 201
    assert await run_test(clerk, answer.json()) == FAILED
    assert second.connections == 0
    await change(admin, key, credential_id=held["id"])
    assert (await run_test(admin, key))[0] is True


async def test_the_rules_of_a_credential_hold_for_keys(admin, ctx, provider) -> None:
    held = await credentials.create(admin, secrets={"api_key": KEY})
    await add_key_for(admin, provider, api_key=None, credential_id=held["id"])
    assert (await credentials.grant(admin, held["id"], "agent", "agt_1")).status == 201
    with pytest.raises(CredentialAccessDenied):
        await model_calls.chat(ctx, REQUEST, hold=unlimited_hold())
    assert (
        await model_calls.chat(ctx, REQUEST, hold=unlimited_hold(), via={"agent_id": "agt_1"})
    ).text == "You said: Hello"


async def test_an_expired_credential_opens_nothing(admin, ctx, clock, provider) -> None:
    held = await credentials.create(admin, secrets={"api_key": KEY}, expires_at=clock.ahead(60))
    key = await add_key_for(admin, provider, api_key=None, credential_id=held["id"])
    clock.advance(61)
    with pytest.raises(CredentialUnusable):
        await model_calls.chat(ctx, REQUEST, hold=unlimited_hold())
    assert await run_test(admin, key) == (False, "This credential has expired.")


async def test_only_credentials_that_are_one_key_of_this_tenant_serve(admin, people) -> None:
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    theirs = await credentials.create(stranger)
    login = await credentials.create(admin, "basic_auth")
    for id, message in (
        (theirs["id"], "there is no such credential"),
        (login["id"], "must be of type api_key or bearer_token"),
    ):
        answer = await admin.post(PATH, {"provider": "openai", "credential_id": id})
        assert (answer.status, answer.details) == (422, {"credential_id": message})


async def test_key_and_credential_take_each_others_place(admin) -> None:
    held = await credentials.create(admin, secrets={"api_key": KEY})
    key = await add_key(admin, api_key="sk-" + "0" * 20 + "own1")
    changed = await change(admin, key, credential_id=held["id"])
    assert changed["key_prefix"] == "…" + KEY[-4:]
    changed = await change(admin, key, api_key="sk-" + "0" * 20 + "own2")
    assert changed["key_prefix"] == "sk-…own2"
    assert (await admin.get(f"{credentials.PATH}/{held['id']}/usage")).json()["data"]["api_keys"] == []


async def test_a_credential_in_use_by_a_key_is_deleted_only_by_force(admin, ctx, provider) -> None:
    held = await credentials.create(admin, secrets={"api_key": KEY})
    key = await add_key_for(admin, provider, provider="openai", api_key=None, credential_id=held["id"])
    answer = await admin.delete(f"{credentials.PATH}/{held['id']}")
    assert (answer.status, answer.code) == (409, "credential_in_use")
    assert answer.details["api_keys"] == [{"id": key["id"], "name": key["name"]}]
    assert (await admin.delete(f"{credentials.PATH}/{held['id']}?force=true")).status == 204
    left = (await admin.get(f"{PATH}/{key['id']}")).json()
    assert (left["key_prefix"], left["is_valid"]) == ("", False)
    assert (await run_test(admin, key))[0] is False
    assert provider.connections == 0
    assert (await change(admin, key, name="Without a secret", is_active=False))["is_active"] is False


async def test_a_key_follows_the_new_secret_of_its_credential(admin, service, provider) -> None:
    held = await credentials.create(admin, secrets={"api_key": "sk-wrong-0123456789-abcd"})
    key = await add_key_for(admin, provider, api_key=None, credential_id=held["id"])
    assert (await run_test(admin, key))[0] is False
    answer = await admin.put(f"{credentials.PATH}/{held['id']}/secrets", {"secrets": {"api_key": KEY}})
    assert answer.status == 200
    await service.runner.drain()
    after = (await admin.get(f"{PATH}/{key['id']}")).json()
    assert (after["key_prefix"], after["is_valid"]) == ("…" + KEY[-4:], True)
    assert after["last_tested_at"] is None
    assert (await run_test(admin, key))[0] is True
