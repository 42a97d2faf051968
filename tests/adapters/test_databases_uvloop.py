"""The drivers on the event loop the server runs on."""

import threading

import pytest
import uvloop

from retinue.adapters.databases import DatabaseTimeout, ResultTooLarge, check, ping, run
from retinue.kit.egress import Egress
from tests.adapters.foreign_databases import NAME
from tests.kit.egress_listener import ScriptedResolver

HUGE = {
    "postgresql": "SELECT repeat('x', 20000000)",
    "mysql": "SELECT REPEAT('x', 15000000)",
    "sqlite": "SELECT printf('%.*c', 5000000, 'x')",
}
NUMBERS = "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 1000) "


def on_uvloop(work) -> None:
    """Run it on uvloop in a thread of its own, because this one has a loop already."""
    failures = []

    def main() -> None:
        try:
            uvloop.run(work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the test
            failures.append(error)

    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("db_type", ["postgresql", "mysql", "sqlite"])
def test_reading_limits_and_tls_work_on_uvloop(shop, db_type):
    spec = (
        shop.spec()
        if db_type == "sqlite"
        else shop.spec(host=NAME, tls="verify-full", ca_certificates=shop.certificate)
    )

    async def work() -> None:
        async def ask(sql, timeout_s=10.0):
            query = check(sql, db_type=db_type, allowed=("select",))
            return await run(egress, spec, query, timeout_s=timeout_s, max_rows=2)

        async with Egress(["127.0.0.0/8"], resolver=ScriptedResolver(["127.0.0.1"])) as egress:
            await ping(egress, spec, timeout_s=5)
            assert (await ask("SELECT id FROM customers ORDER BY id")).rows == [{"id": 1}, {"id": 2}]
            with pytest.raises(ResultTooLarge):
                await ask(HUGE[db_type])
            with pytest.raises(DatabaseTimeout):
                await ask(f"{NUMBERS} SELECT count(*) FROM n AS a, n AS b, n AS c", timeout_s=0.3)

    on_uvloop(work)
