"""Tests of file retention: unclaimed files expire by their purpose, used ones stay."""

import pytest

from retinue.agents.models import Agent
from retinue.files import service
from retinue.files.errors import FileNotFound
from retinue.files.models import File
from retinue.knowledge.models import Document
from retinue.users.models import User
from tests.factories.agents import make_agent
from tests.factories.happenings import events
from tests.factories.uploads import picture

DAY_S = 24 * 3600


async def there(people, file_id: str) -> File | None:
    async with people.context() as ctx:
        return await ctx.system("test").get(File, file_id)


@pytest.fixture
async def pass_days(service, clock):
    await service.runner.drain()

    async def run(days: float) -> None:
        clock.advance(days * DAY_S + 1)
        await service.runner.drain()

    return run


async def test_each_purpose_is_kept_for_its_time(people, files, pass_days):
    made = {purpose: await files.upload("a.txt", b"x", purpose) for purpose in ("form", "chat")}
    made["avatar"] = await files.upload("a.png", picture(), "avatar")
    for purpose in ("knowledge", "tool"):
        made[purpose] = await files.upload("a.txt", b"x", purpose)
        assert made[purpose]["expires_at"] is None

    async def kept() -> set[str]:
        return {purpose for purpose, file in made.items() if await there(people, file["file_id"])}

    await pass_days(0.9)
    assert await kept() == set(made)
    await pass_days(0.2)
    assert await kept() == {"chat", "knowledge", "tool"}
    await pass_days(30)
    assert await kept() == {"knowledge", "tool"}


async def test_a_claimed_file_stays_and_is_claimed_once_in_time_and_for_its_purpose(
    people, files, clock, pass_days
):
    claimed, late = [(await files.upload("a.txt", b"x", "form"))["file_id"] for _ in range(2)]
    tenant = await people.default_tenant()
    elsewhere = await people.tenant("Elsewhere")

    async def claim(file_id: str, purpose: str = "form", tenant_id: str = tenant.id) -> File:
        async with people.context(tenant_id) as ctx:
            return await service.claim(ctx, file_id, purpose=purpose)

    for wrong in ({"purpose": "tool"}, {"tenant_id": elsewhere.id}):
        with pytest.raises(FileNotFound):
            await claim(claimed, **wrong)
    assert (await claim(claimed)).expires_at is None
    with pytest.raises(FileNotFound):
        await claim(claimed)
    clock.advance(DAY_S)
    with pytest.raises(FileNotFound):
        await claim(late)
    await pass_days(10)
    assert await there(people, claimed)
    assert not await there(people, late)


async def test_a_file_in_use_outlives_its_time_until_it_is_let_go(people, files, pass_days):
    file_id = (await files.upload("a.png", picture(), "avatar"))["file_id"]
    async with people.context(files.person.user.tenant_id) as ctx:
        user = await ctx.db.get(User, files.person.user.id)
        await ctx.db.update(user, avatar_file_id=file_id)
    await pass_days(5)
    assert await there(people, file_id)
    async with people.context(files.person.user.tenant_id) as ctx:
        await ctx.db.update(user, avatar_file_id=None)
    await pass_days(1)
    assert not await there(people, file_id)


@pytest.fixture
async def used(people, files):
    """Three files by their ids, each with the kind and the shown name of what uses it."""
    me = files.person
    avatar = (
        await me.post("/api/v1/profile/avatar", files={"avatar": ("a.png", picture(), "image/png")})
    ).json()
    script_id = (await files.upload("sum.py", b"print(1)", "tool"))["file_id"]
    body = {
        "name": "Sum",
        "category": "custom",
        "tool_type": "script",
        "auth_type": "none",
        "config": {"runtime": "python", "entrypoint": script_id},
    }
    answer = await me.post("/v1/tools", body)
    assert answer.status == 201, answer
    agent = await make_agent(me)
    trained = await me.post(
        f"/api/v1/agents/{agent['id']}/train", files={"files": ("a.txt", b"Opening hours", "text/plain")}
    )
    assert trained.status in {200, 202}, trained
    async with people.context(me.user.tenant_id) as ctx:
        (document,) = await ctx.db.all(Document)
    return {
        avatar["avatar_url"].rpartition("/")[2]: ("users", {"id": me.user.id, "name": me.user.email}),
        script_id: ("tools", {"id": answer.json()["data"]["id"], "name": "Sum"}),
        document.file_id: ("documents", {"id": document.id, "name": "a.txt"}),
    }


async def test_a_file_in_use_is_not_deleted_and_its_users_are_named(files, used):
    for file_id, (kind, user) in used.items():
        refused = await files.delete(file_id)
        assert (refused.status, refused.code) == (409, "file_in_use"), kind
        assert {name: found for name, found in refused.details.items() if found} == {kind: [user]}
        assert (await files.content(file_id)).status == 200


async def test_a_file_deleted_by_force_is_removed_from_whatever_used_it(service, people, files, used, clock):
    me = files.person
    for file_id in used:
        assert (await files.delete(file_id, force="true")).status == 204
        assert (await files.get(file_id)).status == 404
    (tool,) = [user for kind, user in used.values() if kind == "tools"]
    assert (await me.get("/api/v1/profile")).json()["avatar_url"] is None
    assert "entrypoint" not in (await me.get(f"/v1/tools/{tool['id']}")).json()["data"]["config"]
    async with people.context(me.user.tenant_id) as ctx:
        assert await ctx.db.count(Document) == 0
        assert await ctx.db.count(Agent) == 1
    assert len(await events(people, "system.file.deleted")) == 3
    clock.advance(24 * 3600 + 1)
    await service.runner.drain()
    assert list((service.settings.data_dir / "files").glob("*/*")) == []
