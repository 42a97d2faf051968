"""Packages for functions and scripts: names are checked, and nothing of a package runs while installing."""

import asyncio
import contextlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import msgspec

from retinue.adapters.sandbox.code import Runtime
from retinue.adapters.sandbox.guests import GUEST
from retinue.kit.errors import RetinueError

_MOST_PACKAGES = 50
_LONGEST_NAME = 200
_LARGEST_FILE = 512 * 1024 * 1024
_LARGEST_FOLDER = 1024 * 1024 * 1024
_LONGEST_REASON = 500

_PYTHON_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_VERSION = r"(?:===?|~=|!=|<=?|>=?) ?[A-Za-z0-9.*+!_-]+"
_NAMES: dict[Runtime, re.Pattern[str]] = {
    "python": re.compile(
        rf"{_PYTHON_NAME}(?: ?\[{_PYTHON_NAME}(?:, ?{_PYTHON_NAME})*\])?(?: ?{_VERSION}(?: ?, ?{_VERSION})*)?"
    ),
    "javascript": re.compile(
        r"(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(?:@[~^]?[0-9]+(?:\.[0-9A-Za-z+-]+)*)?"
    ),
}
_EXPECTED: dict[Runtime, str] = {
    "python": "must be a package name with an optional version, such as requests==2.32.3",
    "javascript": "must be a package name with an optional version, such as lodash@4.17.21",
}

# What the operator configured for pip and npm; nothing else of the server's environment.
_KEPT = re.compile(
    r"(?i)pip_\w+|npm_config_\w+|https?_proxy|all_proxy|no_proxy|ssl_cert_\w+|requests_ca_bundle|node_extra_ca_certs"
    r"|xdg_config_\w+|home|path|lang"
)


class PackagesUnavailable(RetinueError):
    """The packages could not be installed."""

    status, code = 422, "packages_unavailable"


class _NpmEntry(msgspec.Struct):
    version: str = ""


class _NpmLock(msgspec.Struct):
    packages: dict[str, _NpmEntry]


def check_names(packages: list[str], runtime: Runtime = "python") -> dict[int, str]:
    """What is wrong with which entry: options, addresses, paths and markers are no names."""
    if len(packages) > _MOST_PACKAGES:
        return {_MOST_PACKAGES: f"must be at most {_MOST_PACKAGES} packages"}
    return {
        index: _EXPECTED[runtime]
        for index, name in enumerate(packages)
        if len(name) > _LONGEST_NAME or not _NAMES[runtime].fullmatch(name)
    }


async def install(target: Path, runtime: Runtime, packages: list[str], *, timeout_s: float) -> list[str]:
    """Install into a folder that appears only when it is complete; the answer is what is in it, pinned."""
    wrong = check_names(packages, runtime)
    if wrong:
        raise PackagesUnavailable(
            "A package has no acceptable name.", details={str(k): v for k, v in wrong.items()}
        )
    folder = await asyncio.to_thread(_new_folder, target.parent)
    try:
        if packages:
            await _run(_command(runtime, folder, packages), folder, timeout_s)
        pinned = await asyncio.to_thread(_installed, runtime, folder)
        await asyncio.to_thread(_put_in_place, folder, target)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise
    return pinned


def _new_folder(beside: Path) -> Path:
    beside.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=beside, prefix=".installing-"))
    # A sandbox of a server that is root reads it as another user.
    folder.chmod(0o755)
    return folder


def _command(runtime: Runtime, folder: Path, packages: list[str]) -> list[str]:
    if runtime == "javascript":
        npm = shutil.which("npm")
        if not npm:
            raise PackagesUnavailable(
                "npm is not installed on this server, so JavaScript packages cannot be used."
            )
        options = [
            "--ignore-scripts",
            "--omit=dev",
            "--no-audit",
            "--no-fund",
            "--no-save",
            "--loglevel=error",
        ]
        return [npm, "install", *options, "--prefix", str(folder), "--", *packages]
    if importlib.util.find_spec("pip") is None:
        raise PackagesUnavailable(
            "pip is not installed beside this server, so Python packages cannot be used."
        )
    options = ["--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    return [sys.executable, "-I", "-m", "pip", "install", *options, "--target", str(folder), "--", *packages]


async def _run(command: list[str], folder: Path, timeout_s: float) -> None:
    limits = {"core": 0, "fsize": _LARGEST_FILE, "cpu": int(timeout_s) + 1, "nofile": 1024}
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", str(GUEST / "start.py"), "limited"),
        *(msgspec.json.encode(limits).decode(), *command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)},
        cwd=folder,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout_s):
            _, said = await child.communicate()
    except TimeoutError:
        raise PackagesUnavailable(f"Installing took longer than {timeout_s:g} seconds.") from None
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
    if child.returncode:
        raise PackagesUnavailable(f"The packages could not be installed: {_reason(said, folder)}")


def _reason(said: bytes, folder: Path) -> str:
    """The last error line, without where on this server it happened."""
    lines = said.decode(errors="replace").replace(str(folder), "").strip().splitlines()
    errors = [line for line in lines if line.startswith(("ERROR:", "npm error", "npm ERR!"))] or lines
    return (errors[-1] if errors else "no reason was given")[:_LONGEST_REASON]


def _installed(runtime: Runtime, folder: Path) -> list[str]:
    size = sum(file.lstat().st_size for file in folder.rglob("*"))
    if size > _LARGEST_FOLDER:
        raise PackagesUnavailable("The packages are larger than 1 GiB together.")
    if runtime == "python":
        found = importlib.metadata.distributions(path=[str(folder)])
        return sorted(f"{each.metadata['Name']}=={each.version}" for each in found)
    lock = folder / "node_modules" / ".package-lock.json"
    lock.parent.mkdir(exist_ok=True)
    if not lock.exists():
        return []
    held = msgspec.json.decode(lock.read_bytes(), type=_NpmLock).packages
    return sorted({f"{path.rpartition('node_modules/')[2]}@{entry.version}" for path, entry in held.items()})


def _put_in_place(folder: Path, target: Path) -> None:
    if target.exists():
        shutil.rmtree(target)
    folder.rename(target)
