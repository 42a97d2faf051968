"""Long tables of cases: which of them `make test` runs, and which it leaves to `make campaign`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest

# Where a case starts a process or a server, so that a whole table takes minutes.
_COSTLY_FOLDERS = ("tests/adapters/", "tests/tools/")
_CASES_KEPT = 3


def sample_cases(cases: Iterable[Any], *, keep: Collection[Any]) -> list[Any]:
    """Return parameters for all cases; those outside `keep` are marked `campaign`.

    A case of several values is a tuple, as in `pytest.mark.parametrize`.
    """
    table = list(cases)
    unknown = [case for case in keep if case not in table]
    assert not unknown, f"not in the table: {unknown}"
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if case in keep else pytest.mark.campaign,
        )
        for case in table
    ]


class CostlyTables:
    """Marks most cases of long tables in costly folders `campaign`; those kept are spread over the table."""

    # First, because the marker decides what `-m` leaves.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        tables: dict[str, list[pytest.Item]] = {}
        for item in items:
            if item.nodeid.startswith(_COSTLY_FOLDERS) and "[" in item.nodeid:
                tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
        for cases in tables.values():
            step = -(-len(cases) // _CASES_KEPT)
            for position, case in enumerate(cases):
                if position % step:
                    case.add_marker(pytest.mark.campaign)
