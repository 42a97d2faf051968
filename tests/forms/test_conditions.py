"""The page shows the fields that the server counts: both are tested against the same cases."""

import json
from pathlib import Path

import pytest

from tests.forms.condition_cases import CASES_FILE, SEED, format_cases, make_cases
from tests.vitest import run_vitest

pytestmark = pytest.mark.either_database


def test_the_cases_of_the_page_are_what_the_server_says() -> None:
    """The page is tested with them in console/packages/form/conditions.test.ts."""
    cases = make_cases(SEED)
    met = "".join("".join(rows) for rows in cases["comparisons"].values())
    assert min(met.count("0"), met.count("1")) > 5000
    assert CASES_FILE.read_text(encoding="utf-8") == format_cases(cases), (
        "run `python -m tests.forms.condition_cases`, and see what it changes"
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 12))
def test_the_page_agrees_about_other_forms(seed: int, tmp_path: Path) -> None:
    cases = make_cases(seed, form_count=2000)
    path = tmp_path / "conditions.cases.json"
    path.write_text(json.dumps(cases), encoding="utf-8")
    run_vitest("packages/form/conditions.test.ts", CONDITION_CASES=str(path))
