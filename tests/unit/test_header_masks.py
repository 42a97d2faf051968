"""Masks of header values: what stands for what when a configuration is sent back."""

from typing import Any

import pytest

from retinue.kit.text.header_masks import MASK, restore_masked_headers, unmask_headers

KNOWN = {"url": "u", "headers": {"X-Key": "secret"}, "nodes": [{"id": "a", "headers": {"X-Key": "inner"}}]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"headers": {"X-Key": MASK}}, {"headers": {"X-Key": "secret"}}),
        ({"headers": {"x-key": MASK, "B": "2"}}, {"headers": {"x-key": "secret", "B": "2"}}),
        ({"headers": {"X-Key": "new"}}, {"headers": {"X-Key": "new"}}),
        ({"headers": MASK}, {"headers": {"X-Key": "secret"}}),
        ({"url": MASK}, {"url": MASK}),
        (
            {"nodes": [{"id": "a", "headers": {"X-Key": MASK}}]},
            {"nodes": [{"id": "a", "headers": {"X-Key": "inner"}}]},
        ),
        (
            {"nodes": [{"id": "b", "headers": {"X-Key": MASK}}]},
            {"nodes": [{"id": "b", "headers": {"X-Key": MASK}}]},
        ),
        ({"nodes": [{"id": ["a"]}, 7, None]}, {"nodes": [{"id": ["a"]}, 7, None]}),
        ({"nodes": {"id": "a"}, "more": [[1]]}, {"nodes": {"id": "a"}, "more": [[1]]}),
    ],
)
def test_a_mask_stands_for_the_value_in_the_same_place(given: Any, expected: Any) -> None:
    assert restore_masked_headers(given, KNOWN) == expected


def test_a_mask_without_a_value_stays_one() -> None:
    assert unmask_headers({"A": MASK}, {}) == {"A": MASK}
