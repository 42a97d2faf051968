"""Kill -9 around the commits of uploads and submissions.

What was answered is there, once, with its file, its row and its event; what was not leaves no bytes behind.
"""

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retinue.files.jobs import expire_files, sweep_orphans
from retinue.forms.intake.file_uploads import purge_uploads
from tests.e2e.cluster import ForkedServer
from tests.e2e.form_crashing import Crashed, crash_under_load, sweep, two_days_later
from tests.e2e.mutants import FORM_MUTANTS
from tests.e2e.nursery import Nursery

PLACES = (
    "after_commit",
    "file_bytes_kept",
    "file_spooled",
    "before_commit",
    "form_submission_before_store",
)
KILLS = int(os.environ.get("RETINUE_TEST_KILLS", str(3 * len(PLACES))))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
SWEEPING = {
    expire_files: {"a file that is nobody's"},
    purge_uploads: {"an upload that is nobody's"},
    sweep_orphans: {"bytes that are nobody's", "spooled and left"},
}
"""The jobs that clear up, and what is gone after each."""
CAUGHT = {
    "ack_before_commit": "acknowledged but not there",
    "event_in_second_transaction": "has 0 events",
    "file_claimed_before": "a file that is nobody's",
    "row_saved_before": "and of the submission None",
    "row_saved_after": "row None",
    "bytes_after_the_answer": "has the file None",
}


@contextlib.asynccontextmanager
async def crash_server(
    folder: Path, database_url: str, kills: int, *, mutant: str = ""
) -> AsyncIterator[tuple[ForkedServer, Crashed]]:
    """A server that was killed with people at work, and has stopped now."""
    async with Nursery(folder) as nursery:
        server = ForkedServer(nursery, folder, database_url, mutant=mutant)
        yield server, await crash_under_load(server, kills, PLACES, SEED)


@pytest.mark.parametrize("kills", [2, pytest.param(KILLS, marks=pytest.mark.slow)])
async def test_what_was_answered_is_there_once_with_its_row_and_its_event(
    tmp_path: Path, database_url: str, kills: int
) -> None:
    async with crash_server(tmp_path, database_url, kills) as (server, crash):
        await sweep(server)
        assert await crash.problems() == []
    assert len(crash.visitors.acked) > kills, "there was load"


@pytest.mark.slow
async def test_what_kills_leave_is_seen_until_the_job_for_it_has_run(
    tmp_path: Path, database_url: str
) -> None:
    async with crash_server(tmp_path, database_url, 2 * len(PLACES)) as (server, crash):
        left = set().union(*SWEEPING.values())
        assert await crash.kinds_of_problems() == left
        for job, gone in SWEEPING.items():
            async with two_days_later(server) as ctx:
                await job(ctx)
            left -= gone
            assert await crash.kinds_of_problems() == left


@pytest.mark.slow
@pytest.mark.parametrize("mutant", FORM_MUTANTS)
async def test_a_server_that_breaks_its_promise_to_visitors_is_caught(
    tmp_path: Path, database_url: str, mutant: str
) -> None:
    async with crash_server(tmp_path, database_url, 2 * len(PLACES), mutant=mutant) as (server, crash):
        await sweep(server)
        found = await crash.problems()
    assert any(CAUGHT[mutant] in problem for problem in found), found
