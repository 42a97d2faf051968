"""T1: a secret is sent only to the address it was entered for, also if somebody changes the address."""

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.vault import KEY_FILE
from retinue.tools.models import Tool
from retinue.tools.run.execute import execute
from tests.factories.happenings import audits
from tests.factories.people import People
from tests.factories.tools import (
    change_tool,
    endpoint,
    executions_of,
    make_tool,
    run_tool,
    tool_body,
    try_tool,
)
from tests.kit.egress_listener import listening
from tests.tools.servers.rest_api import rest_api

pytestmark = pytest.mark.either_database

SECRET = "tok-4711-entered-for-one-host"
BEARER = {"auth_type": "bearer", "auth_config": {"token": SECRET}}


@pytest.fixture
async def developer(people):
    return await people.signed_in(Role.agent_developer)


@pytest.fixture
async def evil():
    """The address of an attacker, where no secret may arrive."""
    async with listening() as listener:
        yield listener


async def credential(api, **more):
    body = {"name": "CRM key", "type": "bearer_token", "secrets": {"token": SECRET}, **more}
    answer = await api.post("/v1/credentials", body)
    assert answer.status == 201, answer
    return answer.json()["data"]["id"]


def with_credential(id: str) -> dict:
    return {"auth_type": "bearer", "auth_config": {"credential_id": id}}


async def test_who_renames_a_tool_has_not_agreed_to_the_address_another_gave_it(
    admin, developer, remote, evil
) -> None:
    tool = await make_tool(admin, remote.url, **BEARER)
    await change_tool(developer, tool, config={"base_url": evil.url})
    await change_tool(admin, tool, name="Renamed", config={"timeout_ms": 5000})
    assert (await run_tool(developer, tool))["error"]["code"] == "destination_changed"
    assert evil.connections == 0


async def test_a_developer_who_moves_the_address_gets_nothing_sent_there(
    admin, developer, remote, evil
) -> None:
    tool = await make_tool(admin, remote.url, **BEARER)
    await run_tool(developer, tool)
    assert remote.last.headers["Authorization"] == f"Bearer {SECRET}"
    await change_tool(developer, tool, config={"base_url": evil.url})
    ended = await run_tool(developer, tool)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "destination_changed")
    assert evil.connections == 0
    (last, _) = await executions_of(developer, tool)
    assert last["error"]["code"] == "destination_changed"


async def test_back_at_the_old_address_the_tool_works_again(admin, developer, remote, evil) -> None:
    tool = await make_tool(admin, remote.url, **BEARER)
    await change_tool(developer, tool, config={"base_url": evil.url})
    await change_tool(developer, tool, config={"base_url": remote.url})
    assert (await run_tool(developer, tool))["status"] == "completed"


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {"base_url": None}},
        {"tool_type": "webhook", "config": {"url": "{evil}"}},
        {"tool_type": "custom", "config": {"kind": "http_template", "request": {"url": "{evil}/x"}}},
        {"config": {"base_url": None}, "then": {"config": {"base_url": "{evil}"}}},
    ],
)
async def test_there_is_no_way_around(admin, developer, remote, evil, changes) -> None:
    def aimed(value):
        if isinstance(value, dict):
            return {name: aimed(inner) for name, inner in value.items()}
        return value.replace("{evil}", evil.url) if isinstance(value, str) else value

    tool = await make_tool(admin, remote.url, **BEARER)
    changes = aimed(changes)
    then = changes.pop("then", None)
    await change_tool(developer, tool, **changes)
    if then:
        await change_tool(developer, tool, **then)
    ended = await run_tool(developer, tool)
    assert ended["error"]["code"] in {"destination_changed", "not_configured"}
    assert evil.connections == 0
    assert remote.seen == []


async def test_a_secret_that_was_entered_for_nowhere_does_not_go_where_others_say(
    admin, developer, evil
) -> None:
    config = {"endpoints": endpoint("/")}
    tool = await make_tool(admin, config=config, **BEARER)
    await change_tool(developer, tool, config={"base_url": evil.url})
    assert (await run_tool(developer, tool))["error"]["code"] == "destination_changed"
    assert evil.connections == 0
    await change_tool(admin, tool, config={"base_url": evil.url})
    assert (await run_tool(developer, tool))["status"] == "completed"


async def test_who_enters_the_secret_again_may_send_it_elsewhere(admin, developer, remote) -> None:
    tool = await make_tool(admin, "https://api.example.com", **BEARER)
    changed = {"base_url": remote.url}
    await change_tool(developer, tool, config=changed, auth_config={"token": "mine-own-token"})
    assert (await run_tool(developer, tool))["status"] == "completed"
    assert remote.last.headers["Authorization"] == "Bearer mine-own-token"


async def test_who_may_reveal_secrets_may_move_them_and_it_is_audited(admin, people, remote) -> None:
    tool = await make_tool(admin, "https://api.example.com", **BEARER)
    await change_tool(admin, tool, config={"base_url": remote.url})
    assert (await run_tool(admin, tool))["status"] == "completed"
    (row,) = await audits(people, "system.tool.updated")
    assert "auth_destination" in row.metadata["changed"]


async def test_without_a_secret_the_address_is_free(developer, remote, evil) -> None:
    tool = await make_tool(developer, remote.url)
    await change_tool(developer, tool, config={"base_url": evil.url})
    await run_tool(developer, tool)
    assert evil.connections == 1


async def test_an_override_cannot_send_the_secret_elsewhere(people, admin, remote, evil) -> None:
    made = await make_tool(admin, remote.url, **BEARER)
    async with people.context(admin.user.tenant_id) as ctx:
        tool = await ctx.db.get(Tool, made["id"])
    ctx = people.context(admin.user.tenant_id)
    moved = await execute(ctx, tool, {}, override={"base_url": evil.url})
    assert moved.error.code == "destination_changed"
    assert evil.connections == 0
    stayed = await execute(ctx, tool, {}, override={"endpoints": {"get": {"path": "/other"}}})
    assert stayed.output["body"]["target"] == "/other"
    unusable = await execute(ctx, tool, {}, override={"timeout_ms": "soon"})
    assert unusable.error.code == "not_configured"


async def test_a_credential_of_the_vault_is_used_by_reference(admin, developer, people, remote) -> None:
    id = await credential(admin, metadata={"allowed_hosts": [remote.url]})
    tool = await make_tool(developer, remote.url, **with_credential(id))
    assert tool["credential_id"] == id
    assert (await run_tool(developer, tool))["status"] == "completed"
    assert remote.last.headers["Authorization"] == f"Bearer {SECRET}"
    (used,) = await audits(people, "system.credential.used")
    assert used.metadata["via"]["tool_id"] == tool["id"]


async def test_a_credential_nobody_opened_a_way_for_goes_nowhere_at_a_developers_word(
    admin, developer, evil
) -> None:
    id = await credential(admin)
    tool = await make_tool(developer, evil.url, **with_credential(id))
    assert (await run_tool(developer, tool))["error"]["code"] == "destination_changed"
    assert evil.connections == 0


async def test_a_credential_goes_only_where_who_knows_it_attached_it(
    admin, developer, people, remote, evil
) -> None:
    id = await credential(admin)
    tool = await make_tool(admin, remote.url, **with_credential(id))
    await change_tool(developer, tool, config={"base_url": evil.url})
    assert (await run_tool(developer, tool))["error"]["code"] == "destination_changed"
    (refused,) = await audits(people, "system.credential.access_denied")
    assert (refused.success, refused.reason) == (False, "destination_changed")
    other = await make_tool(developer, evil.url, **with_credential(id))
    assert (await run_tool(developer, other))["error"]["code"] == "destination_changed"
    await change_tool(developer, other, auth_config={"credential_id": id})
    assert (await run_tool(developer, other))["error"]["code"] == "destination_changed"
    assert evil.connections == 0
    async with rest_api() as elsewhere:
        moved = await make_tool(admin, elsewhere.url, **with_credential(id))
        assert (await run_tool(developer, moved))["status"] == "completed"


async def test_only_who_may_see_credentials_may_attach_one(admin, people, remote) -> None:
    id = await credential(admin)
    await admin.put("/roles/agent_developer/permissions", {"permissions": ["tools:read", "tools:write"]})
    limited = await people.signed_in(Role.agent_developer)
    answer = await limited.post("/v1/tools", tool_body(remote.url, **with_credential(id)))
    assert (answer.status, answer.details["required"]) == (403, "credentials:read")


async def test_a_credential_that_is_not_there_cannot_be_attached(admin, people) -> None:
    foreign = await people.signed_in(Role.tenant_admin, await people.tenant("Elsewhere"))
    for id in ("cred_nothing", await credential(foreign), "x" * 5000):
        answer = await admin.post("/v1/tools", tool_body(**with_credential(id)))
        assert (answer.status, list(answer.details)) == (422, ["auth_config.credential_id"])


async def test_the_vault_knows_which_tools_use_a_credential(admin, remote) -> None:
    id = await credential(admin)
    tool = await make_tool(admin, remote.url, **with_credential(id))
    refused = await admin.delete(f"/v1/credentials/{id}")
    assert (refused.status, refused.code) == (409, "credential_in_use")
    assert refused.details["tools"] == [{"id": tool["id"], "name": tool["name"]}]
    assert (await admin.delete(f"/v1/credentials/{id}?force=true")).status == 204
    assert (await admin.get(f"/v1/tools/{tool['id']}")).json()["data"]["credential_id"] is None
    assert (await run_tool(admin, tool))["status"] == "failed"
    assert remote.seen == []


async def test_secrets_are_taken_away_with_null(developer, remote) -> None:
    tool = await make_tool(developer, remote.url, **BEARER)
    await change_tool(developer, tool, auth_config=None, auth_type="none")
    await run_tool(developer, tool)
    assert "Authorization" not in remote.last.headers


async def test_a_query_key_stays_with_its_host_too(admin, developer, remote, evil) -> None:
    own = {"api_key_header": "key", "api_key_value": SECRET, "api_key_location": "query"}
    tool = await make_tool(
        admin,
        auth_type="api_key",
        auth_config=own,
        config={"base_url": remote.url, "endpoints": endpoint("/echo")},
    )
    await run_tool(developer, tool)
    assert remote.last.target == f"/echo?key={SECRET}"
    await change_tool(developer, tool, config={"base_url": evil.url})
    assert (await run_tool(developer, tool))["error"]["code"] == "destination_changed"
    assert evil.connections == 0


async def test_in_a_sealed_vault_no_secret_is_taken_or_used(service, admin, clock, remote) -> None:
    with_secret = await make_tool(admin, remote.url, **BEARER)
    without = await make_tool(admin, remote.url)
    (service.settings.data_dir / KEY_FILE).unlink()
    started = Service(service.settings, clock)
    await started.start()
    try:
        session = await People(started).super_admin()
        for answer in (
            await session.post("/v1/tools", tool_body(**BEARER)),
            await session.put(f"/v1/tools/{with_secret['id']}", {"auth_config": {"token": "other-token"}}),
            await try_tool(session, with_secret),
        ):
            assert (answer.status, answer.code) == (503, "vault_sealed")
        assert remote.seen == []
        assert (await run_tool(session, without))["status"] == "completed"
        assert (await change_tool(session, with_secret, name="Renamed"))["name"] == "Renamed"
    finally:
        await started.stop()


async def test_an_override_cannot_send_a_credential_elsewhere(people, admin, remote, evil) -> None:
    id = await credential(admin)
    made = await make_tool(admin, config={"endpoints": endpoint("/echo")}, **with_credential(id))
    async with people.context(admin.user.tenant_id) as ctx:
        tool = await ctx.db.get(Tool, made["id"])
    moved = await execute(people.context(admin.user.tenant_id), tool, {}, override={"base_url": evil.url})
    assert moved.error.code == "destination_changed"
    assert evil.connections == 0
