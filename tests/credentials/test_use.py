"""The one door to a secret: every use is checked and audited before the secret is handed out."""

import pytest

from retinue.credentials.destinations import admit
from retinue.credentials.errors import CredentialNotFound, CredentialUnusable, DestinationChanged
from retinue.credentials.models import Credential
from retinue.credentials.secret_access import CredentialPurpose, open_credential
from tests.factories.credentials import CANARY, PATH, SECRETS, create, get, trail

HERE, ELSEWHERE = "https://api.example.com", "https://attacker.example"
VIA = {"tool_id": "tool_1"}


def purpose(destination: str = HERE) -> CredentialPurpose:
    return CredentialPurpose(via=VIA, destination=destination)


async def is_admitted(ctx, id: str, destination: str) -> bool:
    async with ctx:
        return await admit(ctx, await ctx.db.get(Credential, id), destination)


@pytest.mark.parametrize("type", [name for name in SECRETS if name != "oauth2"])
async def test_the_secrets_of_each_type_are_handed_out_with_what_must_not_come_back(
    owner, context_for, type
) -> None:
    made = await create(owner, type, metadata={"allowed_hosts": [HERE]})
    destination = (made["destinations"] or [HERE])[0]
    opened = await open_credential(context_for(owner), made["id"], purpose(destination))
    assert SECRETS[type].items() <= opened.secrets.items()
    assert opened.secrets.get("port", 0) == {"database": 5432, "ssh": 22, "smtp": 587}.get(type, 0)
    canaries = [part for part in opened.hidden if CANARY in part]
    assert canaries == opened.hidden
    assert canaries
    assert CANARY not in repr(opened)
    assert (await get(owner, made["id"]))["last_used_at"] is not None
    assert [record["action"] for record in await trail(owner, made["id"])] == ["created", "used"]


async def test_a_credential_that_is_not_there_cannot_be_used(owner, context_for, people) -> None:
    stranger = await people.signed_in("tenant_admin", await people.tenant("Other"))
    made = await create(stranger)
    for id in (made["id"], "cred_nobodys"):
        with pytest.raises(CredentialNotFound):
            await open_credential(context_for(owner), id, purpose())


async def test_an_expired_credential_is_not_used(owner, context_for, clock) -> None:
    made = await create(owner, expires_at=clock.ahead(60), metadata={"allowed_hosts": [HERE]})
    await open_credential(context_for(owner), made["id"], purpose())
    clock.advance(61)
    with pytest.raises(CredentialUnusable, match="expired") as refusal:
        await open_credential(context_for(owner), made["id"], purpose())
    assert refusal.value.code == "auth_error"
    record = (await trail(owner, made["id"]))[-1]
    assert (record["action"], record["reason"]) == ("access_denied", "auth_error")


async def test_a_secret_goes_only_where_it_was_entered_for(owner, context_for) -> None:
    made = await create(owner, metadata={"test_url": f"{HERE}/me", "allowed_hosts": ["b.example"]})
    for destination in (HERE, "https://b.example"):
        await open_credential(context_for(owner), made["id"], purpose(destination))
    for destination in (ELSEWHERE, "http://api.example.com", "https://api.example.com:8443", ""):
        with pytest.raises(DestinationChanged):
            await open_credential(context_for(owner), made["id"], purpose(destination))
    record = (await trail(owner, made["id"]))[-1]
    assert (record["action"], record["reason"]) == ("access_denied", "destination_changed")
    assert record["via"] == {**VIA, "agent_id": None, "execution_id": None}


async def test_secrets_that_name_a_server_go_there_without_being_told(owner, context_for) -> None:
    made = await create(owner, "database")
    assert (await open_credential(context_for(owner), made["id"], purpose(""))).secrets[
        "host"
    ] == "db.example.com"
    with pytest.raises(DestinationChanged):
        await open_credential(context_for(owner), made["id"], purpose("postgresql://attacker.example:5432"))


async def test_only_who_knows_the_secret_opens_a_way_for_it(owner, developer, context_for) -> None:
    made = await create(owner)
    assert not await is_admitted(context_for(developer), made["id"], HERE)
    assert await is_admitted(context_for(owner), made["id"], HERE)
    assert await is_admitted(context_for(developer), made["id"], HERE)
    assert not await is_admitted(context_for(developer), made["id"], ELSEWHERE)
    with pytest.raises(DestinationChanged):
        await open_credential(context_for(developer), made["id"], purpose(ELSEWHERE))


async def test_who_replaces_the_secret_is_who_knows_it_from_then_on(owner, developer, context_for) -> None:
    mine = await create(developer)
    assert await is_admitted(context_for(developer), mine["id"], HERE)
    assert await is_admitted(context_for(developer), mine["id"], ELSEWHERE)
    assert (await get(owner, mine["id"]))["destinations"] == [HERE, ELSEWHERE]
    added = [record["metadata"] for record in await trail(owner, mine["id"])][1:]
    assert added == [{"destination": HERE}, {"destination": ELSEWHERE}]
    await owner.put(f"{PATH}/{mine['id']}/secrets", {"secrets": {"api_key": f"{CANARY}-production-key"}})
    assert not await is_admitted(context_for(developer), mine["id"], "https://third.example")
    assert (await get(owner, mine["id"]))["destinations"] == [HERE, ELSEWHERE]
