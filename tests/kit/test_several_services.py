"""Tests of the `several_services` marker: one service of a test stands for three."""

import pytest

from retinue.kit.jobs.models import Job
from retinue.usage.request_counts import RequestCounts
from tests.factories.people import People
from tests.services import SEVERAL, instances_of, why_not

pytestmark = [
    pytest.mark.several_services,
    pytest.mark.skipif(bool(why_not()), reason=f"several services: {why_not()}"),
]


async def test_each_request_goes_to_the_next_service_and_jobs_to_two_of_them(make_service):
    service = await make_service()
    people, me = People(service), "/auth/me"
    admin = await people.super_admin()
    for _ in range(SEVERAL):
        assert (await admin.get(me)).status == 200
    instances = instances_of(service)
    assert len(instances) == SEVERAL
    assert len({id(one.database) for one in instances}) == len({id(one.limiter) for one in instances})
    tenant_id = admin.user.tenant_id
    counted = [one.states[RequestCounts]._allowed[tenant_id] for one in instances]
    assert all(counted), "each service has answered"
    for number in range(4):
        invited = {"email": f"somebody-{number}@example.com", "role": "viewer"}
        assert (await admin.post("/users/invite", invited)).status == 201
    assert await service.runner.drain() >= 4
    async with people.context() as ctx:
        assert await ctx.system("the test looks at everything").all(Job, queue="mail") == []


async def test_a_window_is_one_for_all_of_them_and_goes_by_the_clock_of_the_test(people, clock):
    owner = await people.signed_in("agent_developer", await people.tenant(plan="free"))
    left = [int((await owner.get("/auth/me")).headers["x-ratelimit-remaining"]) for _ in range(2 * SEVERAL)]
    assert left == list(range(left[0], left[0] - 2 * SEVERAL, -1))
    clock.advance(61)
    assert int((await owner.get("/auth/me")).headers["x-ratelimit-remaining"]) == left[0]
