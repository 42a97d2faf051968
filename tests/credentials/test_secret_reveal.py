"""Reading a secret leaves a trace first, or does not happen."""

import asyncio
import contextlib
import sqlite3

import asyncpg
import pytest

from retinue.credentials.models import Credential
from retinue.events.models import SigningSecret
from retinue.kit import failpoints
from retinue.kit.context import Caller, Context
from retinue.kit.db.databases import direct_url
from retinue.kit.events.audit_verification import verify_chain
from retinue.kit.principal import SYSTEM
from retinue.notifications.models import Channel
from tests.factories.broken_secrets import spoil
from tests.factories.credentials import PATH, SECRETS, create, reveal, trail
from tests.factories.happenings import audits
from tests.factories.notifications import make_channel


async def rename_table(service, old: str, new: str) -> None:
    """Rename a table, as somebody with access to the database can."""
    statement = f"ALTER TABLE {old} RENAME TO {new}"
    if service.settings.database_url:
        connection = await asyncpg.connect(direct_url(service.settings))
        await connection.execute(statement)
        await connection.close()
        return
    with contextlib.closing(sqlite3.connect(service.settings.data_dir / "retinue.db")) as connection:
        connection.execute(statement)


@contextlib.asynccontextmanager
async def unwritable_audit(service):
    await rename_table(service, "audit_log", "audit_log_gone")
    try:
        yield
    finally:
        await rename_table(service, "audit_log_gone", "audit_log")


async def test_a_reveal_gives_the_secrets_and_says_when(owner) -> None:
    made = await create(owner)
    answer = await owner.get(f"{PATH}/{made['id']}/reveal")
    revealed = answer.json()["data"]
    assert set(revealed) == {"id", "type", "secrets", "version", "revealed_at"}
    assert (revealed["id"], revealed["type"], revealed["version"]) == (made["id"], "api_key", 1)
    assert revealed["secrets"] == SECRETS["api_key"]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["vary"] == "Authorization"
    (record,) = (await trail(owner, made["id"]))[1:]
    assert (record["action"], record["success"], record["reason"]) == ("revealed", True, None)
    assert record["metadata"] == {"keys": ["api_key"]}
    assert (record["actor"]["id"], record["ip_address"]) == (owner.user.id, owner.ip)


async def test_a_refused_reveal_is_audited(owner, developer) -> None:
    made = await create(owner)
    answer = await developer.get(f"{PATH}/{made['id']}/reveal")
    assert (answer.status, answer.code) == (403, "forbidden")
    assert answer.details == {"required": "credentials:reveal", "your_role": "agent_developer"}
    (record,) = (await trail(owner, made["id"]))[1:]
    assert (record["action"], record["success"], record["reason"]) == ("access_denied", False, "forbidden")
    assert record["actor"]["id"] == developer.user.id


async def test_who_made_a_credential_may_not_reveal_it_for_that(developer) -> None:
    made = await create(developer)
    assert (await developer.get(f"{PATH}/{made['id']}/reveal")).status == 403


async def test_a_look_at_the_headers_is_a_reveal_too(owner) -> None:
    made = await create(owner)
    answer = await owner.request("HEAD", f"{PATH}/{made['id']}/reveal")
    assert (answer.status, answer.body) == (200, b"")
    assert [record["action"] for record in await trail(owner, made["id"])] == ["created", "revealed"]


async def test_nothing_is_revealed_when_the_audit_trail_cannot_be_written(owner, service, logged) -> None:
    made = await create(owner)
    async with unwritable_audit(service):
        for _ in range(3):
            answer = await owner.get(f"{PATH}/{made['id']}/reveal")
            assert (answer.status, answer.code) == (503, "audit_unavailable")
            assert answer.headers["retry-after"] == "1"
    assert "audit_entry_not_stored" in logged.getvalue()
    assert await reveal(owner, made["id"]) == SECRETS["api_key"]
    assert [record["action"] for record in await trail(owner, made["id"])] == ["created", "revealed"]


@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
async def test_a_reveal_that_breaks_off_shows_nothing(owner, point) -> None:
    """There may be a row without an answer, and never an answer without a row."""
    made = await create(owner)
    failpoints.arm(f"{point}:1:error")
    try:
        answer = await owner.get(f"{PATH}/{made['id']}/reveal")
    finally:
        failpoints.arm("")
    assert (answer.status, answer.code) == (503, "audit_unavailable")
    told = [record["action"] for record in await trail(owner, made["id"])]
    assert told == ["created"] + ["revealed"] * (point == "after_commit")


async def test_parallel_reveals_make_one_chain(owner, service) -> None:
    made = await create(owner)
    await asyncio.gather(*(reveal(owner, made["id"]) for _ in range(20)))
    records = await trail(owner, made["id"], action="revealed")
    assert len(records) == 20
    async with Context(service.instance, SYSTEM, Caller(correlation_id="cor_test")) as ctx:
        verdict = await verify_chain(ctx.system("test"), owner.user.tenant_id)
    assert verdict.is_good, str(verdict)


async def test_a_user_reveals_at_most_120_times_a_minute(owner, people, tenant, clock) -> None:
    made = await create(owner)
    for _ in range(120):
        assert (await owner.get(f"{PATH}/{made['id']}/reveal")).status == 200
    answer = await owner.get(f"{PATH}/{made['id']}/reveal")
    assert (answer.status, answer.code) == (429, "rate_limited")
    assert answer.details["limit"] == 120
    assert int(answer.headers["retry-after"]) == answer.details["retry_after"] > 0
    assert answer.headers["x-ratelimit-limit"] == "120"
    other = await people.signed_in("tenant_admin", tenant)
    assert (await other.get(f"{PATH}/{made['id']}/reveal")).status == 200
    clock.advance(61)
    assert (await owner.get(f"{PATH}/{made['id']}/reveal")).status == 200


async def test_a_secret_that_cannot_be_opened_leaves_a_trace_of_who_tried(owner, people) -> None:
    made = await create(owner)
    await spoil(people, owner.user.tenant_id, Credential, "secrets")
    answer = await owner.get(f"{PATH}/{made['id']}/reveal")
    assert (answer.status, answer.code) == (500, "decrypt_failed")
    (row,) = await audits(people, "system.credential.revealed")
    assert (row.subject_id, row.success, row.reason) == (made["id"], False, "decrypt_failed")
    assert (row.actor, row.metadata["keys"]) == ({"type": "user", "id": owner.user.id}, [])


async def test_the_same_holds_for_notification_channels_and_the_signing_secret(admin, people) -> None:
    channels, signing = "/api/v1/notification-channels", "/api/v1/event-subscriptions/signing-secret"
    config = {"webhook_url": "https://hooks.slack.com/services/T0/B0/secret"}
    made = await make_channel(admin, "slack_webhook", config)
    assert (await admin.get(signing)).status == 200
    for record, field in ((Channel, "secrets"), (SigningSecret, "secrets")):
        await spoil(people, admin.user.tenant_id, record, field)
    for path, action in (
        (f"{channels}/{made['id']}/reveal", "system.channel.revealed"),
        (signing, "system.signing_secret.revealed"),
    ):
        answer = await admin.get(path)
        assert (answer.status, answer.code) == (500, "decrypt_failed")
        row = (await audits(people, action))[-1]
        assert (row.success, row.reason, row.actor["id"]) == (False, "decrypt_failed", admin.user.id)
