"""Tests of access rules: the users, roles and tools that may use or reveal a credential."""

import pytest

from retinue.credentials.errors import CredentialAccessDenied
from retinue.credentials.secret_access import CredentialPurpose, open_credential
from tests.factories.credentials import PATH, SECRETS, actions, create, grant, reveal, trail

ALLOWED = {"allowed_hosts": ["a.example"]}


async def rules(person, id):
    return (await person.get(f"{PATH}/{id}/access")).json()["data"]


async def uses(acting, person, made, **via) -> bool:
    try:
        opened = await open_credential(
            acting(person), made["id"], CredentialPurpose(via=via, destination="https://a.example")
        )
    except CredentialAccessDenied:
        return False
    assert opened.secrets == SECRETS[made["type"]]
    return True


async def test_a_rule_is_granted_and_listed(owner) -> None:
    made = await create(owner, metadata=ALLOWED)
    assert await rules(owner, made["id"]) == []
    granted = await grant(owner, made["id"], "tool", "tool_1")
    rule = granted.json()["data"]
    assert (granted.status, rule) == (
        201,
        {
            "id": rule["id"],
            "credential_id": made["id"],
            "integration_type": "tool",
            "integration_id": "tool_1",
            "permission": "use",
            "expires_at": None,
            "granted_by": owner.user.id,
            "created_at": rule["created_at"],
        },
    )
    assert rule["id"].startswith("cra_")
    assert await rules(owner, made["id"]) == [rule]


async def test_a_rule_is_revoked_once(owner) -> None:
    made = await create(owner, metadata=ALLOWED)
    rule = (await grant(owner, made["id"], "tool", "tool_1")).json()["data"]
    answer = await owner.delete(f"{PATH}/{made['id']}/access/{rule['id']}")
    assert (answer.status, answer.body) == (204, b"")
    assert await rules(owner, made["id"]) == []
    again = await owner.delete(f"{PATH}/{made['id']}/access/{rule['id']}")
    assert (again.status, again.code) == (404, "access_rule_not_found")
    told = (await trail(owner, made["id"]))[1:]
    assert [record["action"] for record in told] == ["access_granted", "access_revoked"]
    about = {"rule_id": rule["id"], "integration": {"type": "tool", "id": "tool_1", "permission": "use"}}
    assert [record["metadata"] for record in told] == [about, about]


async def test_the_same_rule_again_is_the_same_rule(owner, clock) -> None:
    made = await create(owner, metadata=ALLOWED)
    first = await grant(owner, made["id"], "agent", "agt_1")
    again = await grant(owner, made["id"], "agent", "agt_1")
    assert (again.status, again.json()) == (200, first.json())
    assert await actions(owner, made["id"]) == ["created", "access_granted"]
    until = clock.ahead(3600)
    renewed = await grant(owner, made["id"], "agent", "agt_1", expires_at=until)
    assert renewed.status == 200
    assert renewed.json()["data"] == {**first.json()["data"], "expires_at": until}
    assert await actions(owner, made["id"]) == ["created", "access_granted", "access_granted"]
    other = await grant(owner, made["id"], "agent", "agt_1", permission="manage")
    assert other.status == 201
    assert len(await rules(owner, made["id"])) == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"integration_id": "tool_1"}, "integration_type"),
        ({"integration_type": "tool"}, "integration_id"),
        ({"integration_type": "tool", "integration_id": ""}, "integration_id"),
        ({"integration_type": "tool", "integration_id": "x" * 65}, "integration_id"),
        ({"integration_type": "form", "integration_id": "x"}, "integration_type"),
        ({"integration_type": "tool", "integration_id": "x", "permission": "own"}, "permission"),
        ({"integration_type": "tool", "integration_id": "x", "expires_at": "soon"}, "expires_at"),
        ({"integration_type": "tool", "integration_id": "x", "expires_at": "2001-01-01"}, "expires_at"),
        ({"integration_type": "role", "integration_id": "king"}, "integration_id"),
        ({"integration_type": "user", "integration_id": "usr_nobody"}, "integration_id"),
    ],
)
async def test_a_rule_that_means_nothing_is_refused(owner, body, field) -> None:
    made = await create(owner, metadata=ALLOWED)
    answer = await owner.post(f"{PATH}/{made['id']}/access", body)
    assert (answer.status, list(answer.details)) == (422, [field])


async def test_a_rule_names_no_user_of_another_tenant(owner, people) -> None:
    made = await create(owner, metadata=ALLOWED)
    stranger = await people.user(tenant=await people.tenant("Other"))
    answer = await grant(owner, made["id"], "user", stranger.id)
    assert (answer.status, list(answer.details)) == (422, ["integration_id"])


async def test_a_rule_of_another_credential_is_not_revoked_here(owner, people) -> None:
    one, other = await create(owner, metadata=ALLOWED), await create(owner, metadata=ALLOWED)
    rule = (await grant(owner, one["id"], "tool", "tool_1")).json()["data"]
    stranger = await people.signed_in("tenant_admin", await people.tenant("Other"))
    theirs = await create(stranger)
    for person, credential in ((owner, other), (stranger, theirs)):
        answer = await person.delete(f"{PATH}/{credential['id']}/access/{rule['id']}")
        assert (answer.status, answer.code) == (404, "access_rule_not_found")
    assert await rules(owner, one["id"]) == [rule]


async def test_without_a_rule_everything_may_use_a_credential_and_with_one_only_what_it_names(
    owner, developer, context_for
) -> None:
    made = await create(owner, metadata=ALLOWED)
    assert await uses(context_for, developer, made, tool_id="tool_1")
    await grant(owner, made["id"], "tool", "tool_1")
    assert await uses(context_for, developer, made, tool_id="tool_1", agent_id="agt_9")
    assert not await uses(context_for, developer, made, tool_id="tool_2")
    assert not await uses(context_for, developer, made)
    refused = [record for record in await trail(owner, made["id"]) if record["action"] == "access_denied"]
    assert [(record["success"], record["reason"]) for record in refused] == [
        (False, "credential_access_denied")
    ] * 2
    assert refused[0]["via"] == {"tool_id": "tool_2", "agent_id": None, "execution_id": None}


async def test_a_rule_may_name_an_agent_a_workflow_or_a_channel(owner, developer, context_for) -> None:
    made = await create(owner, metadata=ALLOWED)
    rule = (await grant(owner, made["id"], "tool", "tool_1")).json()["data"]
    for kind in ("agent", "workflow", "channel"):
        assert not await uses(context_for, developer, made, **{f"{kind}_id": "x_1"})
        assert (await grant(owner, made["id"], kind, "x_1")).status == 201
        assert await uses(context_for, developer, made, **{f"{kind}_id": "x_1"}, tool_id="tool_2")
    assert await uses(context_for, developer, made, tool_id="tool_1")
    await owner.delete(f"{PATH}/{made['id']}/access/{rule['id']}")
    assert not await uses(context_for, developer, made, tool_id="tool_1")


async def test_a_rule_for_everything_matches_nothing(owner, developer, context_for) -> None:
    made = await create(owner, metadata=ALLOWED)
    assert (await grant(owner, made["id"], "tool", "*")).status == 201
    assert not await uses(context_for, developer, made, tool_id="tool_1")


async def test_a_rule_names_a_user_or_everyone_of_a_role(owner, developer, context_for) -> None:
    made = await create(owner, metadata=ALLOWED)
    assert (await grant(owner, made["id"], "user", developer.user.id)).status == 201
    assert await uses(context_for, developer, made, tool_id="tool_1")
    assert not await uses(context_for, owner, made, tool_id="tool_1")
    assert (await grant(owner, made["id"], "role", "tenant_admin")).status == 201
    assert await uses(context_for, owner, made, tool_id="tool_1")


async def test_an_expired_rule_allows_nothing_and_still_keeps_others_out(
    owner, developer, context_for, clock
) -> None:
    made = await create(owner, metadata=ALLOWED)
    await grant(owner, made["id"], "tool", "tool_1", expires_at=clock.ahead(60))
    assert await uses(context_for, developer, made, tool_id="tool_1")
    clock.advance(61)
    assert not await uses(context_for, developer, made, tool_id="tool_1")
    assert not await uses(context_for, developer, made, tool_id="tool_2")


@pytest.mark.parametrize("permission", ["reveal", "manage"])
@pytest.mark.parametrize("whom", ["user", "role"])
async def test_a_rule_lets_someone_reveal_and_shuts_nobody_out(
    owner, developer, context_for, clock, permission, whom
) -> None:
    made = await create(owner, metadata=ALLOWED)
    assert (await developer.get(f"{PATH}/{made['id']}/reveal")).status == 403
    who = developer.user.id if whom == "user" else "agent_developer"
    granted = await grant(owner, made["id"], whom, who, permission=permission, expires_at=clock.ahead(60))
    assert granted.status == 201
    assert await reveal(developer, made["id"]) == SECRETS["api_key"]
    assert await reveal(owner, made["id"]) == SECRETS["api_key"]
    assert await uses(context_for, owner, made, tool_id="tool_1")
    await grant(owner, made["id"], "tool", "tool_1")
    assert await uses(context_for, developer, made, tool_id="tool_2")
    clock.advance(61)
    assert (await developer.get(f"{PATH}/{made['id']}/reveal")).status == 403


async def test_a_rule_to_use_is_none_to_reveal(owner, developer) -> None:
    made = await create(owner, metadata=ALLOWED)
    await grant(owner, made["id"], "user", developer.user.id)
    assert (await developer.get(f"{PATH}/{made['id']}/reveal")).status == 403


@pytest.mark.parametrize("permission", ["reveal", "manage"])
async def test_nobody_lets_themselves_reveal(owner, developer, permission) -> None:
    made = await create(owner, metadata=ALLOWED)
    for whom, who in (("user", developer.user.id), ("role", "agent_developer")):
        answer = await grant(developer, made["id"], whom, who, permission=permission)
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.details == {"required": "credentials:reveal", "your_role": "agent_developer"}
    # A `reveal` rule is not enough either to let others reveal; a `manage` rule is.
    await grant(owner, made["id"], "user", developer.user.id, permission="reveal")
    assert (await grant(developer, made["id"], "role", "viewer", permission=permission)).status == 403
    await grant(owner, made["id"], "user", developer.user.id, permission="manage")
    assert (await grant(developer, made["id"], "role", "viewer", permission=permission)).status == 201
