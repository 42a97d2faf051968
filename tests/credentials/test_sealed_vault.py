"""Without the master key credentials can be looked at; nothing of what they hold can be had or changed."""

from collections.abc import AsyncIterator

import pytest

from retinue.app import Service
from tests.client import Api
from tests.factories.credentials import CANARY, PATH, body_of, create, get, reveal
from tests.factories.people import People
from tests.services import restarted_without_key


@pytest.fixture
async def credential(owner):
    return await create(owner)


@pytest.fixture
async def sealed_service(service, credential, clock) -> AsyncIterator[Service]:
    async with restarted_without_key(service, clock) as sealed:
        yield sealed


@pytest.fixture
async def person(sealed_service, owner) -> Api:
    return await People(sealed_service).sign_in(owner.user)


async def test_what_needs_a_secret_has_to_wait(person, credential, owner) -> None:
    path = f"{PATH}/{credential['id']}"
    for method, where, body in (
        ("POST", PATH, body_of()),
        ("GET", f"{path}/reveal", None),
        ("PUT", f"{path}/secrets", {"secrets": {"api_key": f"{CANARY}-another"}}),
        ("PUT", path, {"name": "x"}),
        ("POST", f"{path}/test", None),
    ):
        answer = await person.request(method, where, json=body)
        assert (answer.status, answer.code) == (503, "vault_sealed"), (method, where)
    assert await get(person, credential["id"]) == credential
    assert (await person.get(PATH)).json()["pagination"]["total"] == 1
    refused, created = (await person.get(f"{path}/audit")).json()["data"]
    assert (created["action"], created["success"]) == ("created", True)
    assert (refused["action"], refused["success"]) == ("revealed", False)


async def test_nothing_is_lost_meanwhile(person, credential, owner) -> None:
    assert (await person.get(f"{PATH}/{credential['id']}/reveal")).status == 503
    assert await reveal(owner, credential["id"]) == body_of()["secrets"]
