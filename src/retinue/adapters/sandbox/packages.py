"""Packages for functions and scripts; names are validated, and no package code runs during installation."""

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
from retinue.adapters.sandbox.guest_process import GUEST
from retinue.kit.durable_files import make_private_folder
from retinue.kit.errors import InternalError

_MAX_PACKAGES = 50
_MAX_NAME_LENGTH = 200
_MAX_FILE_BYTES = 512 * 1024 * 1024
_MAX_FOLDER_BYTES = 1024 * 1024 * 1024
_MAX_REASON_LENGTH = 500

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

# Passes the operator's configuration of pip and npm, and nothing else of the environment.
_PASSED_VARIABLES = re.compile(
    r"(?i)pip_\w+|npm_config_\w+|https?_proxy|all_proxy|no_proxy|ssl_cert_\w+|requests_ca_bundle|node_extra_ca_certs"
    r"|xdg_config_\w+|home|path|lang"
)


class PackagesUnavailable(InternalError):
    """The packages could not be installed. Check their names and versions."""


class _NpmEntry(msgspec.Struct):
    version: str = ""


class _NpmLock(msgspec.Struct):
    packages: dict[str, _NpmEntry]


def validate_names(packages: list[str], runtime: Runtime = "python") -> dict[int, str]:
    """Return the problem of each invalid entry; options, addresses, paths and markers are not names."""
    if len(packages) > _MAX_PACKAGES:
        return {_MAX_PACKAGES: f"must be at most {_MAX_PACKAGES} packages"}
    return {
        index: _EXPECTED[runtime]
        for index, name in enumerate(packages)
        if len(name) > _MAX_NAME_LENGTH or not _NAMES[runtime].fullmatch(name)
    }


async def install(target: Path, runtime: Runtime, packages: list[str], *, timeout_s: float) -> list[str]:
    """Install into a folder that appears only when complete; return its pinned contents."""
    problems = validate_names(packages, runtime)
    if problems:
        raise PackagesUnavailable(
            "A package name is invalid.", details={str(k): v for k, v in problems.items()}
        )
    folder = await asyncio.to_thread(_new_folder, target.parent)
    try:
        if packages:
            await _run(_command(runtime, folder, packages), folder, timeout_s)
        pinned = await asyncio.to_thread(_installed, runtime, folder)
        await asyncio.to_thread(_publish, folder, target)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise
    return pinned


def _new_folder(beside: Path) -> Path:
    make_private_folder(beside)
    folder = Path(tempfile.mkdtemp(dir=beside, prefix=".installing-"))
    _open_to_sandboxes(folder)
    return folder


def _open_to_sandboxes(folder: Path) -> None:
    """Let sandboxes read the folder: if the server is root, they read it as another user."""
    if os.geteuid() == 0:
        folder.chmod(0o755)


def _command(runtime: Runtime, folder: Path, packages: list[str]) -> list[str]:
    if runtime == "javascript":
        npm = shutil.which("npm")
        if not npm:
            raise PackagesUnavailable(
                "npm is not installed on this server. Install it to use JavaScript packages."
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
        raise PackagesUnavailable("pip is not installed on this server. Install it to use Python packages.")
    options = ["--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    return [sys.executable, "-I", "-m", "pip", "install", *options, "--target", str(folder), "--", *packages]


async def _run(command: list[str], folder: Path, timeout_s: float) -> None:
    limits = {"core": 0, "fsize": _MAX_FILE_BYTES, "cpu": int(timeout_s) + 1, "nofile": 1024}
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", str(GUEST / "start.py"), "run_limited"),
        *(msgspec.json.encode(limits).decode(), *command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if _PASSED_VARIABLES.fullmatch(name)},
        cwd=folder,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout_s):
            _, stderr_output = await child.communicate()
    except TimeoutError:
        raise PackagesUnavailable(f"Installing took longer than {timeout_s:g} seconds.") from None
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
    if child.returncode:
        raise PackagesUnavailable(f"The packages could not be installed: {_reason(stderr_output, folder)}")


def _reason(stderr_output: bytes, folder: Path) -> str:
    """Return the last error line without paths of this server."""
    lines = stderr_output.decode(errors="replace").replace(str(folder), "").strip().splitlines()
    errors = [line for line in lines if line.startswith(("ERROR:", "npm error", "npm ERR!"))] or lines
    return (errors[-1] if errors else "the installer gave no reason")[:_MAX_REASON_LENGTH]


def _installed(runtime: Runtime, folder: Path) -> list[str]:
    size = sum(file.lstat().st_size for file in folder.rglob("*"))
    if size > _MAX_FOLDER_BYTES:
        raise PackagesUnavailable("The packages are larger than 1 GiB in total.")
    if runtime == "python":
        distributions = importlib.metadata.distributions(path=[str(folder)])
        return sorted(
            f"{distribution.metadata['Name']}=={distribution.version}" for distribution in distributions
        )
    lock = folder / "node_modules" / ".package-lock.json"
    lock.parent.mkdir(exist_ok=True)
    _open_to_sandboxes(lock.parent)
    if not lock.exists():
        return []
    entries = msgspec.json.decode(lock.read_bytes(), type=_NpmLock).packages
    return sorted(
        {f"{path.rpartition('node_modules/')[2]}@{entry.version}" for path, entry in entries.items()}
    )


def _publish(folder: Path, target: Path) -> None:
    if target.exists():
        shutil.rmtree(target)
    folder.rename(target)
