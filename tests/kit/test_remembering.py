"""What is remembered of configurations: under one stamp, for a while, and not without end."""

import pytest

from retinue.kit import remembering
from retinue.kit.remembering import MISSING, Heard, Memory

NOW = 1_000.0
FIRST, SECOND = Heard(1, NOW + 1), Heard(2, NOW + 1)


def test_what_is_known_under_one_stamp_is_not_known_under_another():
    memory = Memory()
    assert memory.recall("a", FIRST, NOW) is MISSING
    memory.remember("a", FIRST, NOW, "then")
    assert memory.recall("a", FIRST, NOW) == "then"
    assert memory.recall("a", SECOND, NOW) is MISSING
    memory.remember("a", SECOND, NOW, "now")
    assert (memory.recall("a", FIRST, NOW), memory.recall("a", SECOND, NOW)) == (MISSING, "now")


def test_what_was_read_a_while_ago_is_read_again_and_kept_no_longer():
    memory = Memory()
    for number in range(20):
        memory.remember(number, FIRST, NOW + number, "something")
        assert len(memory._known) <= 10
    assert memory.recall(19, FIRST, NOW + 28.9) == "something"
    assert memory.recall(19, FIRST, NOW + 29) is MISSING


def test_the_oldest_gives_way_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remembering, "_MOST", 3)
    memory = Memory()
    for key in "abacd":
        memory.remember(key, FIRST, NOW, key)
    assert [memory.recall(key, FIRST, NOW) is MISSING for key in "abcd"] == [False, True, False, False]
