"""The audit trail of credentials: who did what when, unforgeable, and findable."""

import pytest

from retinue.credentials.events import PREFIX
from retinue.credentials.schemas import AuditAction
from retinue.credentials.secret_access import CredentialPurpose, open_credential
from retinue.kit.events.declare import EVENT_TYPES
from retinue.kit.events.models import AuditEntry
from tests.factories.credentials import PATH, actions, create, grant, reveal, trail
from tests.factories.happenings import events

FIELDS = {
    "id",
    "credential_id",
    "credential_name",
    "action",
    "actor",
    "via",
    "success",
    "reason",
    "ip_address",
    "user_agent",
    "correlation_id",
    "metadata",
    "created_at",
    "hash",
    "prev_hash",
}


async def test_a_record_tells_who_what_when_and_through_what(owner, context_for) -> None:
    made = await create(owner, name="CRM key", metadata={"allowed_hosts": ["a.example"]})
    headers = {"User-Agent": "curl/8", "X-Correlation-ID": "chain-1"}
    await owner.get(f"{PATH}/{made['id']}/reveal", headers=headers)
    via = {"tool_id": "tool_1", "agent_id": "agt_1", "execution_id": "exe_1"}
    await open_credential(
        context_for(owner), made["id"], CredentialPurpose(via=via, destination="https://a.example")
    )
    created, revealed, used = await trail(owner, made["id"])
    common = {
        "credential_id": made["id"],
        "credential_name": "CRM key",
        "actor": {"type": "user", "id": owner.user.id, "name": "Ada Lovelace"},
        "success": True,
        "reason": None,
    }
    for record in (created, revealed, used):
        assert set(record) == FIELDS
        assert record["id"].startswith("aud_")
        assert common.items() <= record.items()
    assert (created["action"], created["via"], created["metadata"]) == ("created", None, {"type": "api_key"})
    assert (revealed["ip_address"], revealed["user_agent"]) == (owner.ip, "curl/8")
    assert (revealed["correlation_id"], revealed["metadata"]) == ("chain-1", {"keys": ["api_key"]})
    assert (used["via"], used["metadata"]) == (via, {})
    assert (revealed["prev_hash"], used["prev_hash"]) == (created["hash"], revealed["hash"])


async def test_the_newest_record_comes_first_and_pages_follow(owner) -> None:
    made = await create(owner)
    for _ in range(4):
        await reveal(owner, made["id"])
    answer = await owner.get(f"{PATH}/{made['id']}/audit", query={"per_page": 2, "page": 3})
    assert answer.json()["pagination"] == {"page": 3, "per_page": 2, "total": 5, "total_pages": 3}
    assert [record["action"] for record in answer.json()["data"]] == ["created"]


async def test_one_credentials_trail_has_nothing_of_another(owner) -> None:
    one, other = await create(owner), await create(owner)
    await reveal(owner, other["id"])
    assert await actions(owner, one["id"]) == ["created"]
    assert [record["credential_id"] for record in await trail(owner)] == [one["id"], other["id"], other["id"]]


async def found(person, **query) -> list[tuple[str, str]]:
    return [(record["credential_id"], record["action"]) for record in await trail(person, **query)]


async def test_the_global_trail_is_filtered_by_action_credential_actor_and_success(owner, developer) -> None:
    one, other = await create(owner), await create(developer)
    await developer.get(f"{PATH}/{one['id']}/reveal")
    await reveal(owner, one["id"])
    before = [(one["id"], "created"), (other["id"], "created")]
    after = [(one["id"], "access_denied"), (one["id"], "revealed")]
    assert await found(owner) == before + after
    assert await found(owner, action="created") == before
    assert await found(owner, credential_id=one["id"]) == [before[0], *after]
    assert await found(owner, actor_id=developer.user.id) == [before[1], after[0]]
    assert await found(owner, actor_id="usr_nobody") == []
    assert await found(owner, success="false") == [after[0]]
    assert await found(owner, success="true", credential_id=one["id"]) == [before[0], after[1]]
    assert await found(owner, action="revealed", success="false") == []


async def test_the_global_trail_is_filtered_by_time(owner, clock) -> None:
    one, other = await create(owner), await create(owner)
    clock.advance(600)
    between = clock.now()
    await reveal(owner, one["id"])
    before, after = [(one["id"], "created"), (other["id"], "created")], [(one["id"], "revealed")]
    assert await found(owner, **{"from": between}) == after
    assert await found(owner, to=between) == before
    offsets = {"from": "2027-01-15T08:00:00+00:00", "to": "2027-01-15T10:05:00+02:00"}
    assert await found(owner, **offsets) == before


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"action": "stolen"}, "action"),
        ({"success": "maybe"}, "success"),
        ({"from": "yesterday"}, "from"),
        ({"from": "null"}, "from"),
        ({"to": "0001-01-01T00:00:00+23:59"}, "to"),
        ({"actor_id": ""}, "actor_id"),
        ({"page": "-1"}, "page"),
    ],
)
async def test_filters_that_mean_nothing_are_refused(owner, query, field) -> None:
    made = await create(owner)
    for path in (f"{PATH}/audit", f"{PATH}/{made['id']}/audit"):
        answer = await owner.get(path, query=query)
        assert (answer.status, list(answer.details)) == (422, [field])


async def test_someone_who_is_gone_has_no_name_in_the_trail(owner, admin, people, tenant) -> None:
    leaver = await people.signed_in("tenant_admin", tenant)
    made = await create(leaver)
    assert (await admin.delete(f"/users/{leaver.user.id}")).status == 200
    (record,) = await trail(owner, made["id"])
    assert record["actor"] == {"type": "user", "id": leaver.user.id, "name": None}


async def test_other_things_of_the_tenant_are_not_in_the_trail(owner, admin) -> None:
    await admin.put(f"/api/v1/tenants/{owner.user.tenant_id}", {"name": "Renamed"})
    assert await trail(owner) == []


def test_every_event_of_a_credential_is_an_action_to_filter_by() -> None:
    told = {name.removeprefix(PREFIX) for name in EVENT_TYPES if name.startswith(PREFIX)}
    assert told == set(AuditAction)
    assert all(EVENT_TYPES[PREFIX + action].is_audited for action in told)


async def test_no_audit_row_or_event_holds_a_value_of_the_credential(owner, developer, people) -> None:
    """The canary is looked for in every answer; here the values that answers do show stay out as well."""
    made = await create(owner, "database", description="the-description", metadata={"k": "the-metadata"})
    await owner.put(f"{PATH}/{made['id']}", {"metadata": {"k": "the-other-metadata"}})
    await owner.put(f"{PATH}/{made['id']}/secrets", {"secrets": {"database": "the-database"}})
    await grant(owner, made["id"], "tool", "tool_1")
    await developer.get(f"{PATH}/{made['id']}/reveal")
    await reveal(owner, made["id"])
    async with people.context(owner.user.tenant_id) as ctx:
        rows = [row.metadata for row in await ctx.db.all(AuditEntry, subject_id=made["id"])]
    listed = [event.data for action in AuditAction for event in await events(people, PREFIX + action)]
    assert len(rows) == 6
    for text in ("the-description", "the-metadata", "the-other-metadata", "the-database", "db.example.com"):
        assert text not in str(rows + listed)
