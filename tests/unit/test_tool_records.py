"""Tests that long values are cut to a JSON text that says so."""

import msgspec
import pytest

from retinue.tools.run.records import truncate_json, truncate_logs, truncate_text

LIMIT = 64 * 1024


@pytest.mark.parametrize("piece", ["a", '"', "\\", "ü", "\U0001f389", "\n", '\\"ü'])
@pytest.mark.parametrize("length", [0, 1, 100, 65_534, 65_535, 70_000, 200_000])
def test_a_record_is_valid_json_of_at_most_64_kibibytes(piece, length) -> None:
    value = {"x": piece * length}
    encoded = msgspec.json.encode(value)
    stored = truncate_json(encoded)
    assert len(stored.encode()) <= LIMIT
    found = msgspec.json.decode(stored)
    if len(encoded) <= LIMIT:
        assert found == value
    else:
        assert (found["truncated"], found["size_bytes"]) == (True, len(encoded))
        assert encoded.decode().startswith(found["preview"])
        assert len(found["preview"].encode()) > LIMIT // 2 - 200


def test_a_text_from_anywhere_becomes_one_that_can_be_stored() -> None:
    assert truncate_text("a\0b\ud800c", 100) == "ab?c"
    assert truncate_text("ü" * 10, 5) == "üü"
    assert truncate_logs("x" * 9000) == "x" * 8192
