"""`/health` names the commit: of the checkout, or the one that the build wrote into the package."""

import subprocess
import sys
from pathlib import Path

import pytest

from retinue.app import Service
from retinue.kit.build_commit import COMMIT_FILE, build_commit, read_checkout, read_packaged
from tests.client import Api

pytestmark = pytest.mark.either_database
ROOT = Path(__file__).parents[2]


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    ran = subprocess.run(
        ("git", *identity, *arguments), cwd=folder, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=one")
    return folder


async def test_health_names_version_and_commit(service: Service) -> None:
    health = (await Api(service).get("/health")).json()
    assert health["version"]
    assert health["commit"] == build_commit()
    if (ROOT / ".git").exists():
        assert health["commit"] == git(ROOT, "rev-parse", "HEAD")


def test_a_checkout_is_read_whatever_form_git_keeps_it_in(checkout: Path, tmp_path: Path) -> None:
    expected = git(checkout, "rev-parse", "HEAD")
    assert read_checkout(checkout) == expected
    git(checkout, "pack-refs", "--all")
    assert not (checkout / ".git" / "refs" / "heads" / "main").exists()
    assert read_checkout(checkout) == expected
    git(checkout, "worktree", "add", "--quiet", str(tmp_path / "side"), "-b", "side")
    git(tmp_path / "side", "commit", "--quiet", "--allow-empty", "--message=two")
    beside = git(tmp_path / "side", "rev-parse", "HEAD")
    assert (read_checkout(tmp_path / "side"), beside == expected) == (beside, False)
    git(checkout, "checkout", "--quiet", "--detach")
    assert read_checkout(checkout) == expected


@pytest.mark.parametrize("text", [None, "", "unknown\n", "abc123\n", "z" * 40])
def test_what_is_not_known_is_null(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / COMMIT_FILE).write_text(text)
    assert read_packaged(tmp_path) is None
    assert read_checkout(tmp_path) is None


def test_the_build_writes_it_into_the_package() -> None:
    """The build backend does the same around setuptools; an image has no checkout, so it names the commit."""
    program = (
        "import sys; sys.path.insert(0, 'packaging'); import console_build as build\n"
        "with build._commit_file(): print(build.COMMIT.read_text().strip())\n"
        "print(build.COMMIT.exists())"
    )
    named = "0123456789abcdef" * 2 + "01234567"
    ran = subprocess.run(
        (sys.executable, "-c", program),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"SOURCE_COMMIT": named, "PATH": "/usr/bin:/bin"},
    )
    assert ran.stdout.split() == [named, "False"]
