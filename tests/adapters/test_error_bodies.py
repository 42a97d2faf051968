"""The message for people is found wherever an API puts it."""

import pytest

from retinue.adapters.error_bodies import decode_json, find_message


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("plain", "plain"),
        ({"message": "a"}, "a"),
        ({"error": "a", "message": "b"}, "b"),
        ({"error": {"code": 1, "message": "a"}}, "a"),
        ({"detail": {"error": "a"}}, "a"),
        ({"error": {"errors": [{"message": "a"}, {"message": "b"}]}}, "a"),
        ([{"error": {"message": "a"}}], "a"),
        ({"errors": ["a", "b"]}, "a"),
        ({"message": "", "error": "a"}, "a"),
        ({"error": {"reason": "x"}}, {"reason": "x"}),
        ({"detail": [{"msg": "x"}]}, [{"msg": "x"}]),
        ({"error": {"error": {"error": {"error": "too deep"}}}}, {"error": "too deep"}),
        ({"error": 7}, 7),
        ({}, {}),
        ([], []),
        (None, None),
    ],
)
def test_the_message_is_found_else_the_part_that_should_contain_it(body, found) -> None:
    assert find_message(body) == found


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff\xfe", b'"\xff"', b"[" * 100_000])
def test_what_is_not_json_decodes_to_nothing(body) -> None:
    assert decode_json(body) is None
