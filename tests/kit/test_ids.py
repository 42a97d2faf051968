"""Identifiers: their form, their order, and that nobody can guess them."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from string import ascii_lowercase

import pytest

from retinue.kit import ids
from retinue.kit.db.models import RECORDS
from retinue.kit.ids import new_id
from retinue.kit.tracing.origin import new_span_id

LETTERS = set(ascii_lowercase + "234567")
RANDOM = ("fcv", "file", "ses", "apl", "agt", "usr")
BY_TIME = ("evt", "msg", "conv", "job", "dlv", "sbm")


@pytest.mark.parametrize("prefix", [*RANDOM, *BY_TIME])
def test_an_id_is_its_prefix_and_26_letters(prefix: str):
    assert prefix in {record.__prefix__ for record in RECORDS.values()}
    made = {new_id(prefix) for _ in range(1_000)}
    assert len(made) == 1_000
    for one in made:
        given, _, letters = one.partition("_")
        assert (given, len(letters), set(letters) <= LETTERS) == (prefix, 26, True)


@pytest.mark.parametrize("prefix", BY_TIME)
def test_ids_of_rows_that_come_in_great_numbers_sort_by_time(prefix: str, monkeypatch: pytest.MonkeyPatch):
    made = []
    for second in (0.0, 1.8e9, 1.8e9 + 0.02, 1.8e9 + 1, 1.8e9 + 86_400, 1.7e10 - 1):
        monkeypatch.setattr(time, "time_ns", lambda second=second: int(second * 1_000_000_000))
        made.append(new_id(prefix))
    assert made == sorted(made)
    assert len({one[-18:] for one in made}) == len(made)


@pytest.mark.parametrize("prefix", RANDOM)
def test_what_may_be_the_only_key_to_something_is_random_throughout(
    prefix: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000_000_000)
    assert prefix not in ids._time_ordered_prefixes
    for place in range(26):
        assert len({new_id(prefix)[-26:][place] for _ in range(500)}) > 20


@pytest.mark.parametrize("make", [lambda: new_id("msg")[-18:], new_span_id])
def test_a_copy_of_the_process_makes_other_ids_than_its_parent(make: Callable[[], str]):
    make()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, "\n".join(make() for _ in range(20)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        theirs = set(told.read().split())
    os.waitpid(child, 0)
    ours = {make() for _ in range(200)}
    assert len(theirs) == 20
    assert not theirs & ours


def test_threads_never_make_the_same_id():
    def some(_number: int) -> list[str]:
        return [new_id("evt") for _ in range(2_000)]

    with ThreadPoolExecutor(4) as threads:
        made = [id for ids in threads.map(some, range(4)) for id in ids]
    assert len(set(made)) == len(made)


def test_another_thread_may_take_the_last_end_at_any_moment(monkeypatch: pytest.MonkeyPatch):
    class Emptied(list[str]):
        """Looks full, and is empty when one comes to take something."""

        def __bool__(self) -> bool:
            return True

    monkeypatch.setattr(ids, "_random_suffixes", Emptied())
    assert len(new_id("evt")) == len("evt_") + 26
