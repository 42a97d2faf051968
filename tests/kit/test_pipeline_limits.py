"""The plans' numbers, through HTTP: what each class of request costs, bursts, and the longer windows."""

import pytest

from retinue.access.models import Role
from retinue.domains import DOMAINS
from retinue.kit.limits import PLANS
from tests.client import Api, Response
from tests.factories.people import People

# The specification's table, written down once more so that a slip in the code cannot confirm itself.
PER_MINUTE = {"free": 60, "pro": 300, "team": 600, "enterprise": 12_000}
BURST = {"free": (2, 10), "pro": (3, 30), "team": (5, 60), "enterprise": (2, 60)}
CALLS = {
    "read": ("GET", "/planted/read", 1),
    "head": ("HEAD", "/planted/read", 1),
    "post": ("POST", "/planted/write", 2),
    "put": ("PUT", "/planted/write", 2),
    "patch": ("PATCH", "/planted/write", 2),
    "delete": ("DELETE", "/planted/delete", 2),
    "execute": ("POST", "/planted/execute", 5),
    "chat": ("POST", "/planted/chat", 10),
}


async def call(caller: Api, kind: str) -> Response:
    method, path, _ = CALLS[kind]
    return await caller.request(method, path)


async def count_admitted(caller: Api, kind: str, at_most: int = 20_000) -> int:
    """Call until one call is refused; return the number of calls before it."""
    for number in range(at_most):
        answer = await call(caller, kind)
        if answer.status == 429:
            return number
        assert answer.status == 200
    return at_most


def limit_headers(answer: Response) -> tuple[int, int, int]:
    """Return limit, remaining and window from the headers."""
    return tuple(int(answer.headers[f"x-ratelimit-{name}"]) for name in ("limit", "remaining", "window"))


@pytest.fixture
async def service(make_service, planted):
    return await make_service(manifests=(*DOMAINS, planted.manifest), burst=False)


@pytest.fixture
async def bursting_people(make_service, planted) -> People:
    return People(await make_service(manifests=(*DOMAINS, planted.manifest)))


async def someone(people: People, plan: str = "free") -> Api:
    return await people.signed_in(Role.agent_developer, await people.tenant(plan=plan))


async def with_own_limits(people: People, **limits) -> Api:
    """Someone of a Free tenant to whom the super administrator gave numbers of its own."""
    admin = await people.super_admin()
    caller = await someone(people)
    answer = await admin.put(f"/api/v1/tenants/{caller.user.tenant_id}", {"limits": limits})
    assert answer.status == 200, answer
    return caller


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("plan", ["free", "pro", "team"])
async def test_a_minute_holds_the_plans_limit_divided_by_the_cost(people, plan, kind):
    caller = await someone(people, plan)
    first = await call(caller, kind)
    cost = CALLS[kind][2]
    assert limit_headers(first) == (PER_MINUTE[plan], PER_MINUTE[plan] - cost, 60)
    assert await count_admitted(caller, kind) == PER_MINUTE[plan] // cost - 1


async def test_the_enterprise_plan_holds_twelve_hundred_chats(people):
    caller = await someone(people, "enterprise")
    assert limit_headers(await call(caller, "read")) == (12_000, 11_999, 60)
    assert await count_admitted(caller, "chat") == 1_199
    assert await count_admitted(caller, "read") == 9


async def test_classes_share_one_window_and_what_still_fits_still_passes(people):
    caller = await someone(people)
    for kind, left in (("chat", 50), ("execute", 45), ("delete", 43), ("patch", 41), ("read", 40)):
        assert limit_headers(await call(caller, kind))[1] == left
    assert await count_admitted(caller, "chat") == 4
    refused = await call(caller, "read")
    assert (refused.status, limit_headers(refused)[1]) == (429, 0)


async def test_health_the_reference_and_preflights_cost_nothing(people, api):
    caller = await someone(people)
    before = limit_headers(await api.get("/health"))
    for method, path in (
        ("GET", "/health"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("OPTIONS", "/users"),
    ):
        assert limit_headers(await caller.request(method, path)) == before
    await count_admitted(caller, "read")
    assert (await caller.get("/health")).status == 200


async def test_the_window_slides(people, clock):
    caller = await someone(people)
    for _ in range(30):
        await call(caller, "read")
    clock.advance(40)
    assert await count_admitted(caller, "read") == 30
    clock.advance(20.5)
    assert await count_admitted(caller, "read") == 30
    clock.advance(40)
    assert await count_admitted(caller, "read") == 30


async def test_a_refusal_says_exactly_what_refused_and_for_how_long(people, clock):
    caller = await someone(people)
    began = clock.time()
    await count_admitted(caller, "chat")
    clock.advance(15)
    refused = await call(caller, "post")
    wait = int(refused.headers["retry-after"])
    assert wait in {45, 46}
    assert refused.status == 429
    assert refused.json() == {
        "error": {
            "code": "rate_limited",
            "message": f"Too many requests. Try again in {wait} seconds.",
            "details": {"limit": 60, "window": 60, "retry_after": wait},
        }
    }
    assert limit_headers(refused) == (60, 0, 60)
    assert refused.headers["x-ratelimit-scope"] == "tenant"
    assert int(refused.headers["x-ratelimit-reset"]) == pytest.approx(began + 60, abs=1)
    assert refused.headers["content-type"] == "application/json"
    clock.advance(wait)
    assert (await call(caller, "post")).status == 200


async def test_refused_calls_cost_nothing(service, people, clock):
    caller = await someone(people)
    assert await count_admitted(caller, "chat") == 6
    for _ in range(200):
        assert (await call(caller, "read")).status == 429
    used = await service.instance.limiter.used(caller.user.tenant_id)
    assert (used.minute, used.hour, used.day) == (60, 6, 6)
    clock.advance(60.5)
    assert await count_admitted(caller, "read") == 60


async def test_a_call_unaffordable_for_what_is_left_is_refused_and_a_cheaper_one_is_not(people):
    caller = await someone(people)
    for _ in range(5):
        await call(caller, "chat")
    await call(caller, "read")
    refused = await call(caller, "chat")
    assert (refused.status, limit_headers(refused)) == (429, (60, 0, 60))
    assert limit_headers(await call(caller, "read")) == (60, 8, 60)


@pytest.mark.parametrize("plan", BURST)
async def test_a_burst_spends_the_limit_times_its_factor(bursting_people, plan):
    caller = await someone(bursting_people, plan)
    factor, _ = BURST[plan]
    assert await count_admitted(caller, "chat") == PER_MINUTE[plan] * factor // 10


async def test_free_bursts_to_a_hundred_and_twenty_reads_and_shows_none_left_meanwhile(bursting_people):
    caller = await someone(bursting_people)
    answers = [await call(caller, "read") for _ in range(121)]
    assert [answer.status for answer in answers] == [200] * 120 + [429]
    assert [limit_headers(answer) for answer in answers[57:61]] == [
        (60, 2, 60),
        (60, 1, 60),
        (60, 0, 60),
        (60, 0, 60),
    ]
    assert {limit_headers(answer) for answer in answers[60:]} == {(60, 0, 60)}
    assert answers[-1].details["limit"] == 60


# A burst of 60 seconds, as Team has it, is as long as the window itself.
@pytest.mark.parametrize("plan", ["free", "pro"])
async def test_a_burst_is_over_after_its_seconds_until_usage_is_below_the_limit(bursting_people, clock, plan):
    caller = await someone(bursting_people, plan)
    limit, (_, seconds) = PER_MINUTE[plan], BURST[plan]
    for _ in range(limit // 10):
        assert (await call(caller, "chat")).status == 200
    clock.advance(1)
    assert (await call(caller, "read")).status == 200
    clock.advance(seconds - 0.1)
    assert (await call(caller, "read")).status == 200
    clock.advance(0.2)
    refused = await call(caller, "read")
    assert (refused.status, limit_headers(refused)) == (429, (limit, 0, 60))
    clock.advance(int(refused.headers["retry-after"]) - 1)
    assert (await call(caller, "read")).status == 429
    clock.advance(1)
    assert limit_headers(await call(caller, "read")) == (limit, limit - 3, 60)


async def test_without_burst_the_sixty_first_read_is_refused(people):
    caller = await someone(people)
    assert [(await call(caller, "read")).status for _ in range(61)] == [200] * 60 + [429]


async def test_the_hour_holds_a_thousand_requests(people, clock):
    caller = await someone(people)
    for _ in range(16):
        assert await count_admitted(caller, "read", 60) == 60
        clock.advance(60.5)
        caller = await people.sign_in(caller.user)
    assert limit_headers(await call(caller, "read")) == (1_000, 39, 3_600)
    assert await count_admitted(caller, "read") == 39
    refused = await call(caller, "read")
    wait = refused.details["retry_after"]
    assert refused.details == {"limit": 1_000, "window": 3_600, "retry_after": wait}
    assert limit_headers(refused) == (1_000, 0, 3_600)
    assert wait == pytest.approx(3_600 - 16 * 60.5, abs=61)
    clock.advance(wait)
    assert (await call(await people.sign_in(caller.user), "read")).status == 200


@pytest.mark.one_service("fills the day in the memory of one process, where that is quick")
async def test_the_day_holds_ten_thousand_requests(service, people, clock):
    caller = await someone(people)
    for _ in range(9_998):
        clock.advance(3.7)
        assert (await service.instance.limiter.hit(caller.user.tenant_id, PLANS["free"], 1)).allowed
    caller = await people.sign_in(caller.user)
    assert limit_headers(await call(caller, "chat")) == (10_000, 1, 86_400)
    assert await count_admitted(caller, "chat") == 1
    clock.advance(7_200)
    caller = await people.sign_in(caller.user)
    refused = await call(caller, "read")
    wait = refused.details["retry_after"]
    assert refused.details == {"limit": 10_000, "window": 86_400, "retry_after": wait}
    assert refused.headers["retry-after"] == str(wait)
    clock.advance(wait)
    assert (await call(await people.sign_in(caller.user), "read")).status == 200


async def test_a_dear_request_is_one_request_in_the_hour_and_the_day(people):
    caller = await with_own_limits(people, requests_per_hour=5, requests_per_day=7)
    for kind, left in (("chat", 4), ("execute", 3), ("post", 2), ("delete", 1), ("read", 0)):
        assert limit_headers(await call(caller, kind)) == (5, left, 3_600)
    assert limit_headers(await call(caller, "read")) == (5, 0, 3_600)


async def test_a_tenants_own_numbers_go_over_its_plan_at_once(people):
    admin = await people.super_admin()
    caller = await with_own_limits(people, requests_per_minute=3)
    address = f"/api/v1/tenants/{caller.user.tenant_id}"
    assert [(await call(caller, "read")).status for _ in range(4)] == [200, 200, 200, 429]
    await admin.put(address, {"limits": {"requests_per_minute": 5}})
    assert await count_admitted(caller, "read") == 2
    await admin.put(address, {"limits": {}, "plan": "pro"})
    assert limit_headers(await call(caller, "read")) == (300, 294, 60)


async def test_null_lifts_one_limit_and_the_next_one_counts(people):
    caller = await with_own_limits(people, requests_per_minute=None, requests_per_hour=70)
    assert await count_admitted(caller, "chat") == 70
    assert limit_headers(await call(caller, "chat")) == (70, 0, 3_600)


async def test_an_unlimited_tenant_still_sees_its_limits(people):
    unlimited = dict.fromkeys(("requests_per_minute", "requests_per_hour", "requests_per_day"))
    caller = await with_own_limits(people, **unlimited)
    assert await count_admitted(caller, "chat", 200) == 200
    answer = await call(caller, "read")
    limit, remaining, window = limit_headers(answer)
    assert (limit, window) == (2**31 - 1, 60)
    assert 0 < remaining < limit
    assert answer.headers["x-ratelimit-reset"].isdigit()


async def test_a_tenant_with_nothing_left_by_decree_is_refused_from_the_first_call(people):
    caller = await with_own_limits(people, requests_per_minute=0)
    refused = await call(caller, "read")
    assert (refused.status, limit_headers(refused)) == (429, (0, 0, 60))
    assert refused.details == {"limit": 0, "window": 60, "retry_after": 60}


async def test_tenants_do_not_share_and_people_of_one_tenant_do(people):
    one, other = await people.tenant(plan="free"), await people.tenant(plan="free")
    anna = await people.signed_in(Role.viewer, one)
    boris = (await people.signed_in(Role.tenant_admin, one)).at("198.51.100.9")
    clara = await people.signed_in(Role.viewer, other)
    for _ in range(29):
        await call(anna, "read")
        await call(boris, "read")
    assert limit_headers(await call(anna, "read"))[1] == 1
    assert limit_headers(await call(boris, "read"))[1] == 0
    assert [(await call(caller, "read")).status for caller in (anna, boris, clara)] == [429, 429, 200]
