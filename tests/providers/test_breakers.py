from retinue.providers.breakers import FAILURES, REST_S, WINDOW_S, Breakers


def broken(now: float = 0.0) -> Breakers:
    breakers = Breakers()
    for _ in range(FAILURES):
        breakers.failed("a", now)
    return breakers


def test_a_key_rests_after_so_many_failures_and_others_do_not() -> None:
    breakers = Breakers()
    for _ in range(FAILURES - 1):
        breakers.failed("a", 0)
    assert breakers.admits("a", 0)
    breakers.failed("a", 0)
    assert not breakers.admits("a", 0)
    assert breakers.admits("b", 0)


def test_failures_that_lie_far_apart_do_not_add_up() -> None:
    breakers = Breakers()
    for number in range(FAILURES * 2):
        breakers.failed("a", number * WINDOW_S / (FAILURES - 1))
        assert breakers.admits("a", number * WINDOW_S / (FAILURES - 1))


def test_one_call_at_a_time_tries_it_out_after_the_rest() -> None:
    breakers = broken()
    assert not breakers.admits("a", REST_S - 1)
    assert breakers.admits("a", REST_S)
    assert not breakers.admits("a", REST_S)
    breakers.forget("a")
    assert breakers.admits("a", REST_S)
    assert breakers.admits("a", REST_S)


def test_a_failed_try_is_another_rest() -> None:
    breakers = broken()
    assert breakers.admits("a", REST_S)
    breakers.failed("a", REST_S + 5)
    assert not breakers.admits("a", 2 * REST_S)
    assert breakers.admits("a", 2 * REST_S + 5)


def test_a_try_that_is_never_heard_of_again_blocks_no_longer_than_a_rest() -> None:
    breakers = broken()
    assert breakers.admits("a", REST_S)
    assert breakers.admits("a", 2 * REST_S)


def test_only_so_many_keys_are_remembered() -> None:
    breakers = Breakers(most=2)
    for key in ("a", "b", "c"):
        for _ in range(FAILURES):
            breakers.failed(key, 0)
    assert [breakers.admits(key, 0) for key in ("a", "b", "c")] == [True, False, False]
