"""Tests of the periodic jobs: tokens are refreshed early, and an expiry is announced once."""

import pytest

from retinue.credentials.secret_access import CredentialPurpose, open_credential
from tests.conftest import broken_jobs
from tests.credentials.token_server import token_server
from tests.factories.credentials import PATH, SECRETS, actions, create, get, trail
from tests.factories.happenings import events

DAY = 24 * 3600
ANYWHERE = CredentialPurpose(via={}, destination="https://api.example.com")
ALLOWED = {"allowed_hosts": ["api.example.com"]}


@pytest.fixture
async def server():
    async with token_server() as started:
        yield started


@pytest.fixture
async def pass_time_for(service, clock, people):
    """Returns a function that lets time pass, runs the jobs and signs the person in again."""
    await service.runner.drain()

    async def pass_time(seconds: float, person) -> None:
        clock.advance(seconds)
        await service.runner.drain()
        person.token = (await people.sign_in(person.user)).token

    return pass_time


async def test_a_token_that_ends_soon_is_renewed_before_anyone_asks(
    owner, server, context_for, pass_time_for
) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    unused = await create(owner, "oauth2", secrets=server.secrets(refresh_token=None))
    await open_credential(context_for(owner), made["id"], ANYWHERE)
    await pass_time_for(3200, owner)
    assert server.calls == 1
    await pass_time_for(120, owner)
    assert server.calls == 2
    record = (await trail(owner, made["id"]))[-1]
    assert (record["action"], record["actor"]) == ("refreshed", {"type": "system", "id": "", "name": None})
    assert await actions(owner, unused["id"]) == ["created"]
    await pass_time_for(120, owner)
    assert server.calls == 2


async def test_a_renewal_that_fails_rests_for_a_while_and_is_given_up_when_refused(
    owner, server, context_for, pass_time_for
) -> None:
    made = await create(owner, "oauth2", metadata=ALLOWED, secrets=server.secrets())
    await open_credential(context_for(owner), made["id"], ANYWHERE)
    server.refuse("server_error", status=503)
    await pass_time_for(3400, owner)
    assert server.calls == 2
    server.refuse("invalid_grant")
    await pass_time_for(600, owner)
    assert server.calls == 2
    await pass_time_for(600, owner)
    assert server.calls == 3
    assert (await get(owner, made["id"]))["is_valid"] is False
    await pass_time_for(1200, owner)
    assert server.calls == 3
    reasons = [record["reason"] for record in await trail(owner, made["id"], action="refresh_failed")]
    assert reasons == ["server_error", "invalid_grant"]


async def test_an_expired_credential_is_not_renewed(owner, server, context_for, pass_time_for, clock) -> None:
    made = await create(
        owner, "oauth2", metadata=ALLOWED, secrets=server.secrets(), expires_at=clock.ahead(3000)
    )
    await open_credential(context_for(owner), made["id"], ANYWHERE)
    await pass_time_for(3400, owner)
    assert server.calls == 1


async def test_the_end_of_a_credential_is_announced_once_before_and_once_after(
    owner, people, pass_time_for, clock
) -> None:
    made = await create(owner, expires_at=clock.ahead(8 * DAY))
    later = await create(owner, expires_at=clock.ahead(60 * DAY))
    never = await create(owner)
    await pass_time_for(3600, owner)
    assert await actions(owner, made["id"]) == ["created"]
    for _ in range(3):
        await pass_time_for(DAY, owner)
    assert await actions(owner, made["id"]) == ["created", "expiring"]
    for _ in range(3):
        await pass_time_for(3 * DAY, owner)
    assert await actions(owner, made["id"]) == ["created", "expiring", "expired"]
    for type in ("expiring", "expired"):
        (event,) = await events(people, f"system.credential.{type}")
        assert (event.subject_id, event.data["expires_at"]) == (made["id"], made["expires_at"])
        assert event.tenant_id == owner.user.tenant_id
    assert await actions(owner, later["id"]) == await actions(owner, never["id"]) == ["created"]


async def test_a_new_end_is_announced_anew(owner, pass_time_for, clock) -> None:
    made = await create(owner, expires_at=clock.ahead(DAY))
    await pass_time_for(400, owner)
    assert await actions(owner, made["id"]) == ["created", "expiring"]
    await owner.put(f"{PATH}/{made['id']}", {"expires_at": clock.ahead(3 * DAY)})
    await pass_time_for(400, owner)
    assert await actions(owner, made["id"]) == ["created", "expiring", "updated", "expiring"]


async def test_a_short_life_ends_without_a_warning(owner, pass_time_for, clock) -> None:
    made = await create(owner, expires_at=clock.ahead(60))
    await pass_time_for(400, owner)
    assert await actions(owner, made["id"]) == ["created", "expired"]


@pytest.mark.every_case
@pytest.mark.parametrize("type", SECRETS)
async def test_secrets_of_every_type_are_replaced_without_a_job_that_fails(service, owner, type) -> None:
    made = await create(owner, type)
    body = {"secrets": SECRETS[type]}
    assert (await owner.put(f"{PATH}/{made['id']}/secrets", body)).status == 200
    await service.runner.drain()
    assert await broken_jobs(service) == []
