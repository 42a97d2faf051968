"""Location of a script, and what is mounted into the sandbox with it."""

import os
import stat
from pathlib import Path

import msgspec

from retinue.adapters.sandbox.bubblewrap import SCRIPT_FOLDER
from retinue.adapters.sandbox.code import Runtime, SandboxFailed
from retinue.adapters.sandbox.guest.call_io import MAX_FILE_BYTES

_SUFFIXES: dict[Runtime, tuple[str, ...]] = {"python": (".py",), "javascript": (".js", ".mjs", ".cjs")}


class SandboxScript(msgspec.Struct, frozen=True):
    """A path inside the sandbox and what is mounted there: a folder, or the content of one file."""

    path: str
    folder: Path | None = None
    content: bytes | None = None


def find(entrypoint: Path, data_dir: Path, runtime: Runtime) -> SandboxScript:
    """Find a script; one in a subfolder of the scripts folder is mounted with that folder, others alone."""
    scripts, uploads = (data_dir.resolve() / name for name in ("scripts", "files"))
    try:
        real = entrypoint.resolve(strict=True)
    except OSError:
        raise SandboxFailed("runtime_error", "The script does not exist.") from None
    if not any(real.is_relative_to(folder) for folder in (scripts, uploads)):
        raise SandboxFailed("runtime_error", "The script is outside the scripts folder.")
    if not real.is_file():
        raise SandboxFailed("runtime_error", "The script is not a file.")
    if real.is_relative_to(scripts) and real.parent != scripts:
        _check_readable(real)
        return SandboxScript(f"{SCRIPT_FOLDER}/{real.name}", folder=real.parent)
    suffixes = _SUFFIXES[runtime]
    suffix = real.suffix if real.suffix in suffixes else suffixes[0]
    return SandboxScript(f"{SCRIPT_FOLDER}/main{suffix}", content=_content(real))


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise SandboxFailed("runtime_error", "The script is larger than 16 MiB.")
    return content


def _check_readable(path: Path) -> None:
    if os.geteuid() == 0 and not path.stat().st_mode & stat.S_IROTH:
        raise SandboxFailed(
            "runtime_error", "The script must be readable by every user, because the server runs as root."
        )
