"""A plan fails if and only if the apply does, with the same error; otherwise the apply does what it says."""

from typing import Any

import msgspec
import pytest

from retinue.access.catalogue import PERMISSION_KEYS
from retinue.access.models import Role
from retinue.kit.context import Caller, Context
from retinue.kit.errors import RetinueError
from retinue.kit.principal import Principal
from retinue.tenant_file.document import SECTION_NAMES
from retinue.tenant_file.parts import to_plain
from retinue.tenant_file.service import change_tenant, read_file
from tests.tenant_file.filled import actions, apply, export, fill, plan
from tests.tenant_file.mutations import mutate

SEEDS = 16


async def apply_unplanned(service: Any, tenant_id: str, document: Any, *, prune: bool) -> Any:
    """Apply a document as nobody can through the API: without a plan. Return the error, if there is one."""
    principal = Principal(
        kind="user", id="usr_test", role="tenant_admin", tenant_id=tenant_id,
        permissions=frozenset(PERMISSION_KEYS),
    )  # fmt: skip
    try:
        async with Context(service.instance, principal, Caller(correlation_id="cor_test")) as ctx:
            await change_tenant(ctx, await read_file(document), prune=prune)
    except RetinueError as error:
        return msgspec.json.decode(msgspec.json.encode(error.body()))["error"]
    return None


async def check(people, service, seeds: range) -> tuple[int, int]:
    tenant = await people.tenant()
    api = await people.signed_in(Role.tenant_admin, tenant)
    await fill(api)
    good = to_plain(await read_file(await export(api)))
    failed = passed = 0
    for seed in seeds:
        document, prune = mutate(good, seed), seed % 3 == 0
        planned = await plan(api, document, prune=prune)
        before = await export(api)
        if planned.status == 200:
            passed += 1
            assert (await apply(api, document, prune=prune)).status == 200, (seed, document)
            again = await plan(api, document, prune=prune)
            assert actions(again) <= {"unchanged"}, (seed, again.json()["changes"])
            good = to_plain(await read_file(await export(api)))
            continue
        failed += 1
        assert planned.status == 422, (seed, planned)
        expected = await apply_unplanned(service, tenant.id, document, prune=prune)
        assert {name: planned.json()["error"].get(name) for name in expected} == expected, seed
        places = {path.partition("/")[0].partition(".")[0] for path in expected["details"]}
        # A section that nobody knows is named as the document has it.
        assert places <= {*SECTION_NAMES, *document}, (seed, expected)
        assert await export(api) == before
    return failed, passed


async def test_a_plan_fails_exactly_when_the_apply_does(people, service):
    failed, passed = await check(people, service, range(SEEDS))
    assert failed
    assert passed


@pytest.mark.campaign
async def test_a_plan_fails_exactly_when_the_apply_does_at_length(people, service):
    for start in range(1_000, 3_000, 100):
        await check(people, service, range(start, start + 100))
