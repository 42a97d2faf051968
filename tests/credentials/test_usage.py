"""Tests of the usage of a credential: dependants are listed, and prevent its deletion."""

import asyncio

import pytest

from retinue.kit.db.errors import ReferenceViolation
from retinue.kit.ids import new_id
from retinue.providers.models import ProviderKey
from retinue.tools.models import AuthType, Tool, ToolType
from tests.factories.credentials import PATH, create, trail


def tool(credential_id: str) -> Tool:
    return Tool(
        name="Shop",
        slug=new_id("slug"),
        category="custom",
        tool_type=ToolType.rest_api,
        config={},
        auth_type=AuthType.bearer,
        credential_id=credential_id,
        pinned_packages=[],
        created_by="usr_1",
    )


def provider_key(credential_id: str) -> ProviderKey:
    return ProviderKey(
        provider="openai", name="Models", credential_id=credential_id, found_models=[], created_by="usr_1"
    )


async def attach(people, person, record):
    async with people.context(person.user.tenant_id) as ctx:
        return await ctx.db.insert(record)


@pytest.fixture
async def used_credential(owner, people):
    made = await create(owner)
    attached = {"tools": tool(made["id"]), "api_keys": provider_key(made["id"])}
    for record in attached.values():
        await attach(people, owner, record)
    return made, attached


async def test_the_usage_names_what_depends_on_a_credential(owner, used_credential) -> None:
    made, attached = used_credential
    expected = {
        "tools": [{"id": attached["tools"].id, "name": "Shop"}],
        "channels": [],
        "agents": [],
        "api_keys": [{"id": attached["api_keys"].id, "name": "Models"}],
    }
    answer = await owner.get(f"{PATH}/{made['id']}/usage")
    assert (answer.status, answer.json()) == (200, {"data": expected})
    for query in ({}, {"force": "false"}):
        refused = await owner.delete(f"{PATH}/{made['id']}", query=query)
        assert (refused.status, refused.code, refused.details) == (409, "credential_in_use", expected)
    other = await create(owner)
    assert not any((await owner.get(f"{PATH}/{other['id']}/usage")).json()["data"].values())


async def test_a_forced_deletion_makes_everything_let_go(owner, used_credential, people) -> None:
    made, attached = used_credential
    assert (await owner.delete(f"{PATH}/{made['id']}", query={"force": "true"})).status == 204
    async with people.context(owner.user.tenant_id) as ctx:
        for record in attached.values():
            assert (await ctx.db.get(type(record), record.id)).credential_id is None
    assert (await trail(owner, credential_id=made["id"]))[-1]["action"] == "deleted"


async def test_a_force_that_is_no_yes_or_no_is_refused(owner) -> None:
    made = await create(owner)
    answer = await owner.delete(f"{PATH}/{made['id']}", query={"force": "please"})
    assert (answer.status, list(answer.details)) == (422, ["force"])


async def test_a_credential_is_not_deleted_under_who_begins_to_use_it(owner, people) -> None:
    for _ in range(5):
        made = await create(owner)
        deleted, attached = await asyncio.gather(
            owner.delete(f"{PATH}/{made['id']}"),
            attach(people, owner, tool(made["id"])),
            return_exceptions=True,
        )
        if deleted.status == 204:
            assert isinstance(attached, ReferenceViolation)
        else:
            assert (deleted.code, attached.credential_id) == ("credential_in_use", made["id"])
