import subprocess
from pathlib import Path

import pytest

from bench.guard import MIN_PAIRS, SECONDS, base_of, commit_of, has_regressed, is_enough
from bench.trees import Comparison


def compared(*ratios: float) -> Comparison:
    return Comparison("chat", [100.0] * len(ratios), [100 * ratio for ratio in ratios])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    for number in range(3):
        commit(tmp_path, f"number {number}")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *identity, *arguments), cwd=folder, check=True)


def commit(folder: Path, subject: str) -> str:
    git(folder, "commit", "--quiet", "--allow-empty", "--message", subject)
    return commit_of(folder, "HEAD")


def test_the_ratio_is_the_median_of_the_pairs_and_not_of_the_sums():
    comparison = Comparison("chat", [100, 1000, 100], [110, 1000, 120])
    assert comparison.ratio == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("count", "left_out"),
    [(1, 0), (5, 0), (6, 0), (9, 1), (12, 2), (30, 9)],
)
def test_the_interval_leaves_out_as_many_of_both_ends_as_the_binomial_allows(count: int, left_out: int):
    comparison = compared(*range(1, count + 1))
    assert comparison.interval == (1 + left_out, count - left_out)


def test_a_regression_is_an_interval_that_lies_above_three_percent_as_a_whole():
    assert has_regressed(compared(1.04, 1.05, 1.06, 1.07, 1.08, 1.09))
    assert not has_regressed(compared(1.02, 1.05, 1.06, 1.07, 1.08, 1.09))
    assert not has_regressed(compared(*[1.0] * 6))


def test_rounds_end_before_the_time_is_over_but_not_before_there_is_an_interval():
    assert not is_enough(MIN_PAIRS - 1, 10 * SECONDS)
    assert is_enough(MIN_PAIRS, 10 * SECONDS)
    assert is_enough(9, 0.91 * SECONDS)
    assert not is_enough(9, 0.89 * SECONDS)


def test_the_base_is_the_first_parent_where_nothing_else_is_known(repository: Path):
    first_parent = commit_of(repository, "HEAD")
    git(repository, "checkout", "--quiet", "-b", "side", "HEAD^1")
    commit(repository, "beside")
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "--message", "merge", "side")
    assert base_of(repository, "") == first_parent


def test_the_base_is_the_landed_commit_that_the_work_builds_upon(repository: Path):
    landed = commit_of(repository, "HEAD^1")
    git(repository, "update-ref", "refs/remotes/origin/main", landed)
    commit(repository, "one more")
    assert base_of(repository, "") == landed


def test_a_landed_commit_that_is_head_or_elsewhere_is_no_base(repository: Path):
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert base_of(repository, "") == commit_of(repository, "HEAD^1")
    git(repository, "reset", "--quiet", "--hard", "HEAD^1")
    assert base_of(repository, "") == commit_of(repository, "HEAD^1")


def test_a_named_base_wins_and_an_unknown_one_is_none(repository: Path):
    assert base_of(repository, "main~2") == commit_of(repository, "HEAD~2")
    assert base_of(repository, "gone") == ""


def test_a_clone_of_one_commit_has_no_base(tmp_path: Path):
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "the only one")
    assert base_of(tmp_path, "") == ""
