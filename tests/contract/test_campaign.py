"""The long forms of the tests ran recently and passed, according to docs/reference/campaign.md."""

import datetime as dt
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.campaign import PARTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/campaign.md"
MAX_COMMITS = 50
MAX_DAYS = 14
_ROW = re.compile(
    r"^\| (?P<part>[a-z]+) \|.*\| (?P<date>\d{4}-\d\d-\d\d) \| `(?P<commit>[0-9a-f]{7,40})` \|$", re.MULTILINE
)


@dataclass(frozen=True)
class Run:
    """The last run of a part of the campaign."""

    part: str
    date: dt.date
    commit: str


def read_runs(page: str) -> list[Run]:
    return [
        Run(row["part"], dt.date.fromisoformat(row["date"]), row["commit"]) for row in _ROW.finditer(page)
    ]


def git(*arguments: str) -> str | None:
    done = subprocess.run(
        (shutil.which("git") or "git", *arguments), cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None


def commits_since(commit: str) -> int | None:
    """Return how many commits of HEAD's history came after it; None if the history does not contain it."""
    if git("merge-base", "--is-ancestor", commit, "HEAD") is None:
        return None
    return int(git("rev-list", "--count", "--first-parent", f"{commit}..HEAD") or 0)


def is_overdue(run: Run, today: dt.date) -> bool:
    """A squashed or shallow history lacks the commit, and then only the date of the run can be judged."""
    count = commits_since(run.commit)
    if count is None:
        return today - run.date > dt.timedelta(days=MAX_DAYS)
    return count > MAX_COMMITS


def today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


@pytest.mark.skipif(git("rev-parse", "HEAD") is None, reason="not a git checkout")
def test_no_part_of_the_campaign_is_overdue():
    runs = read_runs(PAGE.read_text())
    assert [run for run in runs if is_overdue(run, today())] == []


def test_the_page_has_a_row_for_every_part():
    page = PAGE.read_text()
    names = {part.name for part in PARTS}
    rows = {run.part for run in read_runs(page)}
    assert rows == names
    assert "**failed**" not in page


UNKNOWN = "0" * 40


@pytest.mark.skipif(git("rev-parse", "HEAD") is None, reason="not a git checkout")
def test_a_run_is_judged_by_its_commit_and_without_one_by_its_date():
    long_ago = today() - dt.timedelta(days=MAX_DAYS + 1)
    assert not is_overdue(Run("kills", long_ago, git("rev-parse", "HEAD") or ""), today())
    assert is_overdue(Run("kills", long_ago, UNKNOWN), today())
    assert not is_overdue(Run("kills", long_ago + dt.timedelta(days=1), UNKNOWN), today())
