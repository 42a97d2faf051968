import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retinue.kit.clock import ManualClock
from retinue.kit.limits import PLANS, MemoryStore, PlanLimits, WindowUsage, limits_for

FREE = PLANS["free"]
BUCKETS = {60_000: 500, 3_600_000: 60_000, 86_400_000: 1_440_000}


class Reference:
    """The rule written for reading: a log of costs, each leaving one window after the last of its bucket."""

    def __init__(self, limits, burst):
        self.limits, self.burst, self.log, self.since = limits, burst, [], None

    def used(self, now, window):
        leaves = {at // BUCKETS[window]: at + window for at, _ in self.log}
        live = [cost for at, cost in self.log if leaves[at // BUCKETS[window]] > now]
        return sum(live) if window == 60_000 else len(live)

    def hit(self, now, cost):
        minute, hour, day = (self.used(now, window) for window in BUCKETS)
        plan, limit = self.limits, self.limits.requests_per_minute
        if minute < limit:
            self.since = None
        in_time = now - (self.since or now) < plan.burst_seconds * 1000
        bursts = self.burst and in_time and minute + cost <= int(limit * plan.burst_factor)
        longer = hour < plan.requests_per_hour and day < plan.requests_per_day
        allowed = cost == 0 or (longer and (minute + cost <= limit or bursts))
        if allowed and cost:
            self.since = self.since or (now if minute + cost > limit else None)
            self.log.append((now, cost))
        return allowed


def small_plan(minute, hour, day, factor, seconds):
    return PlanLimits(
        requests_per_minute=minute,
        requests_per_hour=hour,
        requests_per_day=day,
        chat_per_minute=None,
        workflow_executions_per_minute=None,
        concurrent_executions=None,
        burst_factor=factor,
        burst_seconds=seconds,
    )


few_or_many = st.one_of(st.integers(1, 40), st.just(100_000))
plans = st.builds(
    small_plan,
    st.integers(0, 12),
    few_or_many,
    few_or_many,
    st.sampled_from([1.0, 1.5, 2.0, 3.0]),
    st.sampled_from([0, 1, 10, 60]),
)
at_once = [0] * 30
within_a_burst = [1, 100, 250, 499, 500, 501, 600, 999, 1000, 1001, 5000, 9_000, 9_999, 10_000, 10_001]
about_a_minute = [30_000, 49_999, 50_000, 58_999, 59_000, 59_399, 59_499, 59_500, 59_999, 60_000, 60_001]
longer = [600_000, 3_540_000, 3_599_999, 3_600_000, 43_200_000, 86_400_000]
pauses = st.sampled_from(at_once + within_a_burst + about_a_minute + longer)
costs = st.sampled_from([0, 1, 1, 1, 1, 2, 2, 5, 10])
sequences = st.lists(st.tuples(pauses, costs), min_size=20, max_size=60)


def early_clock():
    """A clock early in a millisecond, so that its own steps never reach the next one."""
    return ManualClock(1_800_000_000.0001)


@settings(max_examples=40, deadline=None)
@given(plan=plans, burst=st.booleans(), sequence=sequences)
def test_every_decision_is_that_of_the_reference(plan, burst, sequence):
    clock, now = early_clock(), 1_800_000_000_000
    store, reference = MemoryStore(clock), Reference(plan, burst)
    limits = (plan.requests_per_minute, plan.requests_per_hour, plan.requests_per_day)
    for pause, cost in sequence:
        clock.advance(pause / 1000)
        now += pause
        decision = store.hit("tenant", plan, cost, burst=burst)
        assert decision.allowed == reference.hit(now, cost)
        used = [reference.used(now, window) for window in BUCKETS]
        assert store.used("tenant") == WindowUsage(*used)
        if decision.allowed:
            left = [max(0, limit - spent) for limit, spent in zip(limits, used, strict=True)]
            assert decision.remaining == min(left)
            assert decision.window == (60, 3600, 86_400)[left.index(min(left))]
        else:
            assert decision.remaining == 0
            assert 1 <= decision.retry_after <= decision.window


@settings(max_examples=40, deadline=None)
@given(limit=st.integers(1, 30), sequence=sequences)
def test_no_rolling_minute_exceeds_the_limit_and_no_cost_is_held_a_bucket_too_long(limit, sequence):
    clock, now = early_clock(), 0
    store, log = MemoryStore(clock), []
    for pause, cost in sequence:
        clock.advance(pause / 1000)
        now += pause
        if store.hit_window("form", limit, 60, cost).allowed:
            log.append((now, cost))
            assert sum(spent for at, spent in log if at > now - 60_000) <= limit
        else:
            assert sum(spent for at, spent in log if at > now - 60_500) + cost > limit


@settings(max_examples=40, deadline=None)
@given(plan=plans, burst=st.booleans(), sequence=sequences)
def test_waiting_as_told_is_enough_unless_the_cost_can_never_fit(plan, burst, sequence):
    clock = early_clock()
    store = MemoryStore(clock)
    for pause, cost in sequence:
        clock.advance(pause / 1000)
        decision = store.hit("tenant", plan, cost, burst=burst)
        if not decision.allowed:
            clock.advance(decision.retry_after)
            ceiling = int(
                plan.requests_per_minute * (plan.burst_factor if burst and plan.burst_seconds else 1)
            )
            assert store.hit("tenant", plan, cost, burst=burst).allowed == (cost <= ceiling)


def hits(store, count, cost=1, limits=FREE):
    return [store.hit("tenant", limits, cost) for _ in range(count)]


def test_with_burst_a_free_minute_takes_120_and_refuses_the_121st_within_ten_seconds():
    clock = early_clock()
    store = MemoryStore(clock)
    decisions = hits(store, 60)
    clock.advance(5)
    decisions += hits(store, 60)
    clock.advance(4)
    assert all(decision.allowed for decision in decisions)
    assert [decision.remaining for decision in decisions] == [*range(59, -1, -1), *[0] * 60]
    assert {decision.limit for decision in decisions} == {60}
    refused = hits(store, 1)[0]
    assert (refused.allowed, refused.limit, refused.remaining, refused.window) == (False, 60, 0, 60)


def test_a_burst_ends_after_its_seconds_and_the_next_waits_for_usage_below_the_limit():
    clock = early_clock()
    store = MemoryStore(clock)
    assert all(decision.allowed for decision in hits(store, 50))
    clock.advance(20)
    assert all(decision.allowed for decision in hits(store, 30))
    clock.advance(9.9)
    assert hits(store, 1)[0].allowed
    clock.advance(0.2)
    refused = hits(store, 1)[0]
    assert (refused.allowed, refused.retry_after) == (False, 30)
    clock.advance(29)
    assert not hits(store, 1)[0].allowed
    clock.advance(1)
    assert all(decision.allowed for decision in hits(store, 89))
    assert not hits(store, 1)[0].allowed


def test_a_burst_lasts_its_seconds_to_the_millisecond():
    clock = early_clock()
    store = MemoryStore(clock)
    hits(store, 61)
    clock.advance(9.999)
    assert hits(store, 1)[0].allowed
    clock.advance(0.001)
    assert not hits(store, 1)[0].allowed


def test_refused_calls_cost_nothing_in_any_window():
    store = MemoryStore(early_clock())
    limits = limits_for("free", {"requests_per_hour": 3})
    assert [store.hit("tenant", limits, 10).allowed for _ in range(50)] == [True] * 3 + [False] * 47
    assert store.used("tenant") == WindowUsage(30, 3, 3)


def test_a_look_shows_the_headers_and_charges_nothing():
    clock = early_clock()
    store = MemoryStore(clock)
    look = store.hit("tenant", FREE, 0)
    assert (look.allowed, look.limit, look.remaining, look.window) == (True, 60, 60, 60)
    assert look.reset == 1_800_000_060
    assert len(store) == 0
    store.hit("tenant", FREE, 10)
    clock.advance(20)
    assert store.hit("tenant", FREE, 0).remaining == 50
    assert store.hit("tenant", FREE, 0).reset == 1_800_000_060


def test_reset_is_when_the_oldest_cost_leaves():
    clock = early_clock()
    store = MemoryStore(clock)
    first = store.hit("tenant", FREE, 1)
    clock.advance(30)
    assert store.hit("tenant", FREE, 1).reset == first.reset
    clock.advance(30)
    assert store.hit("tenant", FREE, 0).remaining == 59
    assert store.hit("tenant", FREE, 0).reset == first.reset + 30


def test_the_hour_is_shown_when_less_of_it_is_left_and_then_refuses():
    clock = early_clock()
    store = MemoryStore(clock)
    decisions = []
    for _ in range(1001):
        clock.advance(1.2)
        decisions.append(store.hit("tenant", FREE, 1))
    assert [decision.window for decision in decisions[:900]] == [60] * 900
    assert (decisions[999].window, decisions[999].limit, decisions[999].remaining) == (3600, 1000, 0)
    refused = decisions[1000]
    assert (refused.allowed, refused.window, refused.limit, refused.remaining) == (False, 3600, 1000, 0)
    assert 2399 <= refused.retry_after <= 2460


def test_the_day_is_shown_when_less_of_it_is_left_and_then_refuses():
    clock = early_clock()
    store = MemoryStore(clock)
    limits = limits_for("free", {"requests_per_day": 5})
    decisions = [store.hit("tenant", limits, 10) for _ in range(6)]
    assert [decision.window for decision in decisions] == [86_400] * 6
    assert [decision.remaining for decision in decisions] == [4, 3, 2, 1, 0, 0]
    assert (decisions[5].allowed, decisions[5].retry_after) == (False, 86_400)


def test_the_minute_is_shown_on_a_tie():
    store = MemoryStore(early_clock())
    limits = limits_for("free", {"requests_per_hour": 60})
    assert store.hit("tenant", limits, 1).window == 60


def test_a_refusal_describes_the_window_that_refuses_longest():
    store = MemoryStore(early_clock())
    limits = limits_for("free", {"requests_per_minute": 2, "requests_per_day": 2, "burst_seconds": 0})
    refused = hits(store, 3, limits=limits)[-1]
    assert (refused.allowed, refused.window, refused.limit) == (False, 86_400, 2)


def test_a_new_plan_holds_at_once_over_what_was_spent():
    store = MemoryStore(early_clock())
    assert hits(store, 60, limits=PLANS["pro"])[-1].remaining == 240
    assert store.hit("tenant", FREE, 1, burst=False).allowed is False
    assert store.hit("tenant", PLANS["pro"], 1).remaining == 239


def test_keys_and_windows_are_apart():
    store = MemoryStore(early_clock())
    assert store.hit_window("a", 1, 60).allowed
    assert not store.hit_window("a", 1, 60).allowed
    assert store.hit_window("a", 1, 900).allowed
    assert store.hit_window("b", 1, 60).allowed
    assert store.hit("a", FREE, 1).remaining == 59


@pytest.mark.parametrize("window", [1, 7, 60, 900, 86_400])
def test_a_throttle_opens_again_after_its_window(window):
    clock = early_clock()
    store = MemoryStore(clock)
    assert [store.hit_window("ip", 5, window).allowed for _ in range(6)] == [True] * 5 + [False]
    refused = store.hit_window("ip", 5, window)
    assert (refused.limit, refused.remaining, refused.window) == (5, 0, window)
    clock.advance(refused.retry_after)
    assert store.hit_window("ip", 5, window).allowed


def test_memory_is_bounded_and_the_busy_key_is_kept():
    clock = early_clock()
    store = MemoryStore(clock, max_keys=100)
    for number in range(1000):
        clock.advance(0.01)
        store.hit(f"ip_{number}", FREE, 1)
        store.hit("busy", FREE, 0 if number else 10)
        assert len(store) <= 100
    assert store.used("busy") == WindowUsage(10, 1, 1)
    assert store.used("ip_0") == WindowUsage(0, 0, 0)


def test_idle_keys_are_forgotten_as_others_come():
    clock = early_clock()
    store = MemoryStore(clock)
    for number in range(200):
        store.hit_window(f"old_{number}", 5, 60)
    clock.advance(61)
    for number in range(100):
        store.hit_window(f"new_{number}", 5, 60)
    assert len(store) == 100


def test_the_buckets_of_a_busy_key_are_bounded():
    clock = early_clock()
    store = MemoryStore(clock)
    limits = limits_for("enterprise", {"requests_per_minute": None, "requests_per_hour": None})
    for _ in range(3000):
        clock.advance(47.3)
        store.hit("tenant", limits, 1)
    for _ in range(3000):
        clock.advance(0.1)
        store.hit("tenant", limits, 1)
    sizes = [len(window.buckets) // 2 for window in store._tallies["tenant"].windows]
    assert all(size <= most for size, most in zip(sizes, (121, 61, 61), strict=True))


def test_a_clock_set_back_a_little_stands_still():
    clock = early_clock()
    store = MemoryStore(clock)
    hits(store, 60)
    clock.advance(-0.9)
    assert store.hit("tenant", FREE, 1, burst=False).retry_after == 60


def test_a_clock_set_back_far_does_not_lock_anyone_out():
    clock = early_clock()
    store = MemoryStore(clock)
    hits(store, 120)
    clock.advance(-7200)
    assert hits(store, 1)[0].remaining == 59


def test_a_lease_is_one_of_a_limited_number_until_released():
    store = MemoryStore(early_clock())
    assert [store.acquire("tenant", 2, lease, 30) for lease in "abc"] == [True, True, False]
    assert store.acquire("other", 2, "c", 30)
    store.release("tenant", "a")
    store.release("tenant", "never taken")
    assert store.acquire("tenant", 2, "c", 30)
    assert not store.acquire("tenant", 2, "d", 30)


def test_an_expired_lease_frees_itself_and_a_renewed_one_does_not():
    clock = early_clock()
    store = MemoryStore(clock)
    assert store.acquire("tenant", 2, "kept", 30)
    assert store.acquire("tenant", 2, "lost", 30)
    clock.advance(20)
    assert store.acquire("tenant", 2, "kept", 30)
    clock.advance(20)
    assert store.acquire("tenant", 2, "next", 30)
    assert not store.acquire("tenant", 2, "lost", 30)


def test_leases_without_a_limit_are_all_given_and_abandoned_ones_forgotten():
    clock = early_clock()
    store = MemoryStore(clock)
    assert all(store.acquire(f"tenant_{number}", None, "lease", 30) for number in range(50))
    clock.advance(31)
    for number in range(50):
        store.acquire(f"later_{number}", 1, "lease", 30)
    assert len(store._leases) == 50
