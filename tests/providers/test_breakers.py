from retinue.providers.circuit_breakers import (
    MAX_FAILURES,
    OPEN_SECONDS,
    WINDOW_SECONDS,
    BreakerKey,
    CircuitBreakers,
)

A, OTHER_MODEL, B = BreakerKey("a", "small"), BreakerKey("a", "large"), BreakerKey("b", "small")


def broken(now: float = 0.0) -> CircuitBreakers:
    breakers = CircuitBreakers()
    for _ in range(MAX_FAILURES):
        breakers.failed(A, now)
    return breakers


def test_a_key_rests_after_so_many_failures_and_others_do_not() -> None:
    breakers = CircuitBreakers()
    for _ in range(MAX_FAILURES - 1):
        breakers.failed(A, 0)
    assert breakers.admits(A, 0)
    breakers.failed(A, 0)
    assert not breakers.admits(A, 0)
    assert breakers.admits(B, 0)
    assert breakers.admits(OTHER_MODEL, 0)


def test_failures_that_lie_far_apart_do_not_add_up() -> None:
    breakers = CircuitBreakers()
    for number in range(MAX_FAILURES * 2):
        breakers.failed(A, number * WINDOW_SECONDS / (MAX_FAILURES - 1))
        assert breakers.admits(A, number * WINDOW_SECONDS / (MAX_FAILURES - 1))


def test_one_call_at_a_time_tries_it_out_after_the_rest() -> None:
    breakers = broken()
    assert not breakers.admits(A, OPEN_SECONDS - 1)
    assert breakers.admits(A, OPEN_SECONDS)
    assert not breakers.admits(A, OPEN_SECONDS)
    breakers.forget(A)
    assert breakers.admits(A, OPEN_SECONDS)
    assert breakers.admits(A, OPEN_SECONDS)


def test_a_failed_try_is_another_rest() -> None:
    breakers = broken()
    assert breakers.admits(A, OPEN_SECONDS)
    breakers.failed(A, OPEN_SECONDS + 5)
    assert not breakers.admits(A, 2 * OPEN_SECONDS)
    assert breakers.admits(A, 2 * OPEN_SECONDS + 5)


def test_a_try_that_is_never_heard_of_again_blocks_no_longer_than_a_rest() -> None:
    breakers = broken()
    assert breakers.admits(A, OPEN_SECONDS)
    assert breakers.admits(A, 2 * OPEN_SECONDS)


def test_only_so_many_keys_are_remembered() -> None:
    breakers = CircuitBreakers(most=2)
    for guarded in (A, OTHER_MODEL, B):
        for _ in range(MAX_FAILURES):
            breakers.failed(guarded, 0)
    assert [breakers.admits(guarded, 0) for guarded in (A, OTHER_MODEL, B)] == [True, False, False]


def test_a_changed_key_starts_afresh_with_all_its_models() -> None:
    breakers = broken()
    for _ in range(MAX_FAILURES):
        breakers.failed(OTHER_MODEL, 0)
        breakers.failed(B, 0)
    breakers.forget_key("a")
    assert [breakers.admits(guarded, 0) for guarded in (A, OTHER_MODEL, B)] == [True, True, False]


def test_a_provider_is_left_alone_as_long_as_it_asked() -> None:
    breakers = CircuitBreakers()
    breakers.hold(A, 0, 40)
    assert [breakers.held_seconds(A, now) for now in (0, 39, 40)] == [40, 1, 0]
    assert breakers.admits(A, 0)
