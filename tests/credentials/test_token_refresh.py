"""Access tokens are renewed in time, once for everyone who waits, and what is renewed is never lost."""

import asyncio

import pytest

from retinue.app import Service
from retinue.credentials import token_refresh
from retinue.credentials.errors import CredentialUnusable
from retinue.credentials.models import Credential
from retinue.credentials.secret_access import CredentialPurpose, open_credential
from retinue.kit.context import Caller, Context
from retinue.kit.principal import Principal
from tests.credentials.token_server import token_server
from tests.factories.credentials import CANARY, PATH, actions, create, get, reveal, trail

ANYWHERE = CredentialPurpose(via={"tool_id": "tool_1"}, destination="https://api.example.com")
ALLOWED = {"allowed_hosts": ["api.example.com"]}
MANY = 20


@pytest.fixture
async def server():
    async with token_server() as started:
        yield started


async def token_of(ctx: Context, made) -> str:
    return (await open_credential(ctx, made["id"], ANYWHERE)).secrets["access_token"]


async def load_credential(people, owner, made) -> Credential:
    async with people.context(owner.user.tenant_id) as ctx:
        found = await ctx.db.get(Credential, made["id"])
        assert found is not None
        return found


async def change(people, owner, made, **changes) -> None:
    async with people.context(owner.user.tenant_id) as ctx:
        await ctx.db.update(await ctx.db.get(Credential, made["id"]), **changes)


async def test_a_token_is_got_at_the_first_use_and_kept_for_the_next(owner, server, context_for) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets(scopes=["read", "write"]))
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-1"
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-1"
    assert server.calls == 1
    assert server.forms[0]["scope"] == "read write"
    assert await reveal(owner, made["id"]) == server.secrets(
        scopes=["read", "write"], access_token=f"{CANARY}-access-1", refresh_token=f"{CANARY}-refresh-1"
    )
    shown = await get(owner, made["id"])
    assert (shown["version"], shown["rotated_at"]) == (1, None)
    assert "access_token" in shown["secret_keys"]
    assert await actions(owner, made["id"]) == ["created", "refreshed", "used", "used", "revealed"]


async def test_a_token_is_renewed_shortly_before_it_ends(owner, server, context_for, clock, people) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.expires_in = 600
    await token_of(context_for(owner), made)
    clock.advance(530)
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-1"
    clock.advance(15)
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-2"
    server.expires_in = None
    clock.advance(600)
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-3"
    ends_at = (await load_credential(people, owner, made)).token_expires_at
    assert clock.ahead(3590) < ends_at < clock.ahead(3600)


async def test_a_token_of_a_short_life_is_used_for_half_of_it(owner, server, context_for, clock) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.expires_in = 30
    await token_of(context_for(owner), made)
    clock.advance(14)
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-1"
    clock.advance(2)
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-2"


async def test_a_client_without_a_refresh_token_asks_for_itself(owner, server, context_for) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets(refresh_token=None))
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-1"
    assert server.forms == [{"grant_type": "client_credentials"}]


@pytest.mark.parametrize("left_out", ["token_url", "client_secret"])
async def test_what_cannot_be_renewed_is_used_as_it_is(owner, server, context_for, left_out) -> None:
    secrets = server.secrets(refresh_token=None, access_token=f"{CANARY}-entered", **{left_out: None})
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=secrets)
    assert await token_of(context_for(owner), made) == f"{CANARY}-entered"
    assert server.calls == 0


async def test_twenty_who_need_a_token_at_once_ask_for_one(owner, server, context_for) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.expires_in = 30
    tokens = await asyncio.gather(*(token_of(context_for(owner), made) for _ in range(MANY)))
    assert (server.calls, set(tokens)) == (1, {f"{CANARY}-access-1"})
    assert len(await trail(owner, made["id"], action="used")) == MANY


async def test_two_processes_that_need_a_token_at_once_ask_for_one(owner, server, service, clock) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    beside = Service(service.settings, clock)
    await beside.start()
    user = owner.user
    principal = Principal(kind="user", id=user.id, tenant_id=user.tenant_id, role=user.role)
    try:
        callers = [
            Context(each.instance, principal, Caller(correlation_id="cor_test"))
            for each in (service, beside) * (MANY // 2)
        ]
        tokens = await asyncio.gather(*(token_of(ctx, made) for ctx in callers))
    finally:
        await beside.stop()
    assert (server.calls, set(tokens)) == (1, {f"{CANARY}-access-1"})


async def test_a_refusal_is_shared_recorded_and_not_repeated_at_once(
    owner, server, context_for, clock
) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.refuse("invalid_grant", description=f"the token {server.refresh_token} is over")
    found = await asyncio.gather(
        *(token_of(context_for(owner), made) for _ in range(MANY)), return_exceptions=True
    )
    assert all(isinstance(error, CredentialUnusable) for error in found)
    assert {error.code for error in found} == {"auth_error"}
    assert not any(CANARY in error.message for error in found)
    assert server.calls == 1
    (record,) = await trail(owner, made["id"], action="refresh_failed")
    assert (record["success"], record["reason"]) == (False, "invalid_grant")
    assert (await get(owner, made["id"]))["is_valid"] is False
    clock.advance(11)
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-2"
    assert (await get(owner, made["id"]))["is_valid"] is True


async def test_while_the_server_is_away_a_token_that_still_lives_is_used(
    owner, server, context_for, clock
) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.expires_in = 100
    await token_of(context_for(owner), made)
    clock.advance(50)
    server.refuse("server_error", status=503)
    assert await token_of(context_for(owner), made) == f"{CANARY}-access-1"
    assert server.calls == 2
    assert (await get(owner, made["id"]))["is_valid"] is True
    clock.advance(60)
    server.refuse("server_error", status=503)
    with pytest.raises(CredentialUnusable, match="token endpoint failed"):
        await token_of(context_for(owner), made)


async def test_the_lease_of_a_process_that_died_runs_out(owner, server, context_for, people, clock) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    await change(people, owner, made, refresh_lease_until=clock.ahead(token_refresh.LEASE_SECONDS))
    waiting = asyncio.create_task(token_of(context_for(owner), made))
    done, _ = await asyncio.wait([waiting], timeout=0.2)
    assert (done, server.calls) == (set(), 0)
    clock.advance(token_refresh.LEASE_SECONDS + 1)
    assert await waiting == f"{CANARY}-access-1"


async def test_whoever_gives_up_waiting_loses_no_token(owner, server, context_for, people) -> None:
    """The server has rotated the refresh token by then: the old one is worth nothing any more."""
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.opened.clear()
    asking = asyncio.create_task(token_of(context_for(owner), made))
    await server.is_asked.wait()
    asking.cancel()
    await asyncio.wait([asking])
    server.opened.set()
    await asyncio.wait([*token_refresh._renewals])
    assert (await load_credential(people, owner, made)).refresh_lease_until is None
    assert (await reveal(owner, made["id"]))["refresh_token"] == server.refresh_token


async def test_secrets_entered_while_a_token_is_renewed_stay(owner, server, context_for) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.opened.clear()
    asking = asyncio.create_task(token_of(context_for(owner), made))
    await server.is_asked.wait()
    entered = {"refresh_token": f"{CANARY}-entered-anew", "access_token": f"{CANARY}-access-anew"}
    assert (await owner.put(f"{PATH}/{made['id']}/secrets", {"secrets": entered})).status == 200
    server.opened.set()
    assert await asking == f"{CANARY}-access-anew"
    assert entered.items() <= (await reveal(owner, made["id"])).items()


async def test_other_changes_while_a_token_is_renewed_do_not_lose_it(
    owner, server, context_for, people
) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    server.opened.clear()
    asking = asyncio.create_task(token_of(context_for(owner), made))
    await server.is_asked.wait()
    assert (await owner.put(f"{PATH}/{made['id']}/secrets", {"secrets": {"scopes": ["more"]}})).status == 200
    server.opened.set()
    await asking
    kept = await reveal(owner, made["id"])
    assert (kept["scopes"], kept["refresh_token"]) == (["more"], server.refresh_token)
    # The token was not asked for with these scopes, so the next use asks again.
    assert (await load_credential(people, owner, made)).token_expires_at is None
