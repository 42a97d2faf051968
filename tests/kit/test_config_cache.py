"""Tests of the config cache: valid for one version, for a while, and bounded."""

import pytest

from retinue.kit import config_cache
from retinue.kit.config_cache import MISSING, ConfigCache, ConfigVersion

NOW = 1_000.0
FIRST, SECOND = ConfigVersion(1, NOW + 1), ConfigVersion(2, NOW + 1)


def test_what_is_known_under_one_stamp_is_not_known_under_another():
    memory = ConfigCache()
    assert memory.get_cached("a", FIRST, NOW) is MISSING
    memory.store_cached("a", FIRST, NOW, "then")
    assert memory.get_cached("a", FIRST, NOW) == "then"
    assert memory.get_cached("a", SECOND, NOW) is MISSING
    memory.store_cached("a", SECOND, NOW, "now")
    assert (memory.get_cached("a", FIRST, NOW), memory.get_cached("a", SECOND, NOW)) == (MISSING, "now")


def test_what_was_read_a_while_ago_is_read_again_and_kept_no_longer():
    memory = ConfigCache()
    for number in range(20):
        memory.store_cached(number, FIRST, NOW + number, "something")
        assert len(memory._known) <= 10
    assert memory.get_cached(19, FIRST, NOW + 28.9) == "something"
    assert memory.get_cached(19, FIRST, NOW + 29) is MISSING


def test_the_oldest_gives_way_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config_cache, "_MAX_ENTRIES", 3)
    memory = ConfigCache()
    for key in "abacd":
        memory.store_cached(key, FIRST, NOW, key)
    assert [memory.get_cached(key, FIRST, NOW) is MISSING for key in "abcd"] == [False, True, False, False]
