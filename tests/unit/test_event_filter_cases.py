"""Cases of event filters that the console's own matching must agree with; vitest reads the same file."""

import json
from pathlib import Path
from typing import Any

import pytest

from retinue.kit.events.filters import check_filters, matches_filters, matches_type

_FOLDER = Path(__file__).parents[2] / "console/src/features/events/subscriptions"
_CASES: dict[str, list[dict[str, Any]]] = json.loads((_FOLDER / "matching.cases.json").read_text())


@pytest.mark.parametrize("case", _CASES["types"], ids=json.dumps)
def test_a_pattern_matches_the_types_of_the_shared_cases(case: dict[str, Any]) -> None:
    assert matches_type(case["pattern"], case["type"]) is case["matches"]


@pytest.mark.parametrize("case", _CASES["conditions"], ids=json.dumps)
def test_conditions_hold_as_in_the_shared_cases(case: dict[str, Any]) -> None:
    check_filters(case["filters"])
    assert matches_filters(case["filters"], case["data"]) is case["matches"]
