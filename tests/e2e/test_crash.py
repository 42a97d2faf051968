"""Kill -9 under load: nothing acknowledged is missing, every change has its event, no job is lost."""

import os
from pathlib import Path

import pytest

from tests.e2e.conftest import Serving
from tests.e2e.crashing import crash, problems
from tests.e2e.mutants import MUTANTS
from tests.e2e.processes import ServerProcess

KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "2"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))


@pytest.mark.every_case
async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(serving: Serving) -> None:
    async with serving() as server:
        ledger = await crash(server, KILLS, SEED)
        assert len(ledger.acked) > KILLS, "there was load"
        assert await problems(server, ledger) == []


@pytest.mark.either_database
@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
async def test_a_server_that_breaks_its_promise_is_caught(
    tmp_path: Path, database_url: str, mutant: str
) -> None:
    expected = {
        "ack_before_commit": "acknowledged but not there",
        "event_in_second_transaction": "has 0 events",
    }
    async with ServerProcess(tmp_path, database_url, mutant=mutant) as server:
        ledger = await crash(server, 4, SEED)
        assert any(expected[mutant] in problem for problem in await problems(server, ledger))
