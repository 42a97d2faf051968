import math

import msgspec
import pytest

from retinue.kit.clock import ManualClock
from retinue.kit.errors import Invalid, RateLimited
from retinue.kit.limits import COST, PLANS, MemoryStore, PlanLimits, RateLimitDecision, limits_for

NUMBERS = {
    "free": (60, 1_000, 10_000, 6, 5, 1, 2.0, 10),
    "pro": (300, 10_000, 100_000, 30, 30, 5, 3.0, 30),
    "team": (600, 30_000, 300_000, 60, 60, 10, 5.0, 60),
    "enterprise": (12_000, 300_000, None, 1_200, 3_000, 500, 2.0, 60),
}


@pytest.mark.parametrize("plan", NUMBERS)
def test_a_plan_has_the_numbers_of_the_contract(plan):
    assert msgspec.structs.astuple(PLANS[plan]) == NUMBERS[plan]
    assert limits_for(plan, None) is limits_for(plan, {}) is PLANS[plan]


def test_costs_are_those_of_the_contract():
    assert COST == {"free": 0, "read": 1, "write": 2, "delete": 2, "execute": 5, "chat": 10}


@pytest.mark.parametrize("plan", ["free", "pro", "team"])
def test_chat_per_minute_is_what_the_cost_of_a_chat_allows(plan):
    assert PLANS[plan].chat_per_minute == PLANS[plan].requests_per_minute // COST["chat"]


def test_every_number_can_be_edited_for_a_tenant():
    numbers = dict(zip(PlanLimits.__struct_fields__, (1, 2, 3, 4, 5, 6, 1.5, 8), strict=True))
    assert msgspec.structs.asdict(limits_for("pro", numbers)) == numbers
    assert PLANS["pro"].requests_per_minute == 300


def test_null_is_unlimited():
    limits = limits_for(
        "free", {"requests_per_minute": None, "requests_per_hour": None, "requests_per_day": None}
    )
    store = MemoryStore(ManualClock())
    decisions = [store.hit("tenant", limits, COST["chat"]) for _ in range(2000)]
    assert all(decision.allowed for decision in decisions)
    assert decisions[-1].limit == 2**31 - 1


def test_a_limit_of_nothing_refuses_everything_but_a_look():
    limits = limits_for("free", {"requests_per_minute": 0})
    store = MemoryStore(ManualClock())
    refused = store.hit("tenant", limits, 1)
    assert (refused.allowed, refused.limit, refused.retry_after) == (False, 0, 60)
    assert store.hit("tenant", limits, 0).allowed


@pytest.mark.parametrize(
    "overrides",
    [
        {"requests_per_fortnight": 1},
        {"requests_per_minute": -1},
        {"requests_per_minute": "60"},
        {"requests_per_minute": 60.0},
        {"requests_per_minute": True},
        {"requests_per_minute": 2**31},
        {"burst_factor": None},
        {"burst_factor": 0.5},
        {"burst_factor": math.nan},
        {"burst_factor": math.inf},
        {"burst_factor": "2"},
        {"burst_factor": True},
        {"burst_seconds": None},
        {"burst_seconds": 1.5},
        {"burst_seconds": -1},
    ],
)
def test_a_bad_override_is_refused_and_named(overrides):
    with pytest.raises(Invalid) as caught:
        limits_for("free", overrides)
    assert list(caught.value.details) == [f"limits.{name}" for name in overrides]


def test_all_bad_overrides_are_named_at_once():
    with pytest.raises(Invalid) as caught:
        limits_for("free", {"requests_per_hour": -1, "concurrent_executions": [], "chat_per_minute": 3})
    assert set(caught.value.details) == {"limits.requests_per_hour", "limits.concurrent_executions"}


def test_an_unknown_plan_is_refused():
    with pytest.raises(Invalid) as caught:
        limits_for("platinum")
    assert set(caught.value.details) == {"plan"}


@pytest.mark.parametrize(("kind", "count"), [("read", 60), ("write", 30), ("delete", 30), ("chat", 6)])
def test_a_free_minute_without_burst_holds_exactly(kind, count):
    store = MemoryStore(ManualClock())
    decisions = [store.hit("tenant", PLANS["free"], COST[kind], burst=False) for _ in range(count + 1)]
    assert [decision.allowed for decision in decisions] == [True] * count + [False]


def test_the_headers_are_ready_for_asgi():
    assert RateLimitDecision(True, 60, 59, 1_800_000_060, 60).headers() == [
        (b"x-ratelimit-limit", b"60"),
        (b"x-ratelimit-remaining", b"59"),
        (b"x-ratelimit-reset", b"1800000060"),
        (b"x-ratelimit-window", b"60"),
    ]


def test_headers_stay_right_after_more_numbers_than_are_kept():
    decisions = [RateLimitDecision(True, 10_000, left, 1_800_000_000 + left, 3600) for left in range(10_000)]
    for decision in decisions + decisions[:10]:
        _, remaining, reset, _ = decision.headers()
        assert (int(remaining[1]), int(reset[1])) == (decision.remaining, decision.reset)


class FormRateLimited(RateLimited):
    """Too many submissions."""

    code = "rate_limit_exceeded"


def test_a_refusal_describes_the_limit_that_refused():
    refused = RateLimitDecision(False, 1000, 0, 1_800_003_600, 3600, retry_after=17)
    error = refused.refusal()
    assert type(error) is RateLimited
    assert error.details == {"limit": 1000, "window": 3600, "retry_after": 17}
    assert error.headers == {
        "Retry-After": "17",
        "X-RateLimit-Limit": "1000",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "1800003600",
        "X-RateLimit-Window": "3600",
    }
    assert refused.refusal(FormRateLimited).code == "rate_limit_exceeded"
