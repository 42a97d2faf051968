"""A million rows in one table: read from a file, listed, filtered and counted, in memory that stays flat."""

import resource
import time

import pytest

from tests.tables.tables import BASE, Tables

ROWS = 1_000_000
COLUMNS = [
    {"name": "name", "type": "text", "indexed": True},
    {"name": "age", "type": "integer", "indexed": True},
    {"name": "amount", "type": "number"},
]


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.slow
async def test_a_million_rows_stay_usable(tables: Tables) -> None:
    table = await tables.make(COLUMNS)
    content = b"name,age,amount\n" + b"".join(b"N%07d,%d,%d.5\n" % (n, n % 1000, n % 7) for n in range(ROWS))
    await tables.send(table, "a.csv", content)
    before = peak_mb()
    await tables.work()
    assert peak_mb() - before < 64
    assert (await tables.table(table))["row_count"] == ROWS
    for query, seconds in (
        ({}, 1),
        ({"filter": {"age": 7}}, 1),
        ({"filter": {"name": "N0500000"}}, 1),
        ({"sort": "age"}, 1),
        ({"sort": "-name", "page": 3}, 1),
        ({"filter": {"amount": 6.5}}, 30),
        ({"search": "N0999999"}, 30),
    ):
        started = time.monotonic()
        page = await tables.page(table, **query)
        assert page["data"], query
        assert time.monotonic() - started < seconds, query
    assert page["pagination"]["total"] == 1
    many = (await tables.page(table, filter={"amount": {"gt": 0}}))["pagination"]
    assert (many["total"] > 20, many["total_is_exact"]) == (True, False)
    grouped = await tables.person.get(
        f"{BASE}/{table['id']}/aggregate", query={"group_by": "amount", "metrics": "count"}
    )
    assert sum(one["count"] for one in grouped.json()["data"]) == ROWS
