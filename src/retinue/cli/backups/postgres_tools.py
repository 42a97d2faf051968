"""`pg_dump` and `pg_restore` of the server's major version; a password never stands in their arguments."""

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from retinue.kit.errors import CannotStart

_FOLDERS = (
    "/usr/lib/postgresql/{major}/bin",
    "/usr/pgsql-{major}/bin",
    "/opt/homebrew/opt/postgresql@{major}/bin",
    "/usr/local/opt/postgresql@{major}/bin",
)
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_MAX_ERROR_LENGTH = 500


class ToolFailed(CannotStart):
    """A program of PostgreSQL did not succeed; the message is its last words."""


async def dump(url: str, snapshot: str, target: Path, major: int) -> None:
    arguments = ("--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}")
    await _run(url, find_tool("pg_dump", major), *arguments, f"--file={target}")


async def restore(url: str, source: Path, major: int) -> None:
    """Restore everything in one transaction, or nothing."""
    arguments = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
    await _run(url, find_tool("pg_restore", major), *arguments, str(source))


def find_tool(name: str, major: int) -> str:
    for path in _candidates(name, major):
        if _major_of(path) == major:
            return path
    raise CannotStart(
        f"{name} of PostgreSQL {major}, the version of the server, is not installed. Install it (Debian: "
        f"postgresql-client-{major}) or add its folder to PATH."
    )


def _candidates(name: str, major: int) -> Iterator[str]:
    folders = [folder.format(major=major) for folder in _FOLDERS]
    for folder in (*os.environ.get("PATH", "").split(os.pathsep), *folders):
        if folder and (found := shutil.which(name, path=folder)):
            yield found


def _major_of(path: str) -> int | None:
    done = subprocess.run((path, "--version"), capture_output=True, text=True, check=False)  # noqa: S603  a tool found by name
    match = _VERSION.search(done.stdout)
    return int(match[1]) if match else None


async def _run(url: str, tool: str, *arguments: str) -> None:
    address, password = _without_password(url)
    environment = {**os.environ, **({"PGPASSWORD": password} if password else {})}
    process = await asyncio.create_subprocess_exec(
        tool, *arguments, f"--dbname={address}", env=environment, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        _, errors = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        text = errors.decode(errors="replace").strip()
        raise ToolFailed(f"{Path(tool).name} failed: {text[-_MAX_ERROR_LENGTH:]}")


def _without_password(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.password is None:
        return url, ""
    user, _, host = parts.netloc.rpartition("@")
    login = user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{login}@{host}")), unquote(parts.password)
