"""The file system, the limits and the command line of a bubblewrap sandbox."""

import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

import msgspec

from retinue.adapters.sandbox.code import Runtime
from retinue.adapters.sandbox.guests import GUEST

SCRIPT_PLACE, SECCOMP_PLACE = 8, 9
PACKAGES, NODE_PACKAGES, SCRIPT = "/packages", "/node_modules", "/script"
# Paths inside the sandbox, each a file system of its own.
_TMP, _SHARED = "/tmp", "/dev/shm"  # noqa: S108

_TMP_BYTES = 32 * 1024 * 1024
_SHARED_BYTES = 8 * 1024 * 1024
_MOST_PROCESSES = 64
# What an interpreter uses on top of what its code may use, and what it reserves without using it.
_OWN_MB: dict[Runtime, int] = {"python": 16, "javascript": 64}
_RESERVED_MB: dict[Runtime, int] = {"python": 48, "javascript": 448}

_CLOSED = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom")
# RLIMIT_NPROC counts all processes of a user, unless it is set inside the sandbox's own user namespace;
# the shell that sets it calls it -u when it is bash and -p when it is dash.
_LIMITED = f'ulimit -u {_MOST_PROCESSES} 2>/dev/null || ulimit -p {_MOST_PROCESSES} || exit 70; exec "$@"'

_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_APPLICATION = Path(__file__).parents[3]

Binds = list[tuple[str, str]]


class Missing(Exception):
    """Something the sandbox needs is not on this machine."""


class Interpreter(msgspec.Struct, frozen=True):
    """A program inside the sandbox, what has to be mounted for it and what of that stays covered."""

    command: str
    binds: tuple[tuple[str, str], ...] = ()
    covered: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def program() -> str:
    found = shutil.which("bwrap")
    if not found:
        raise Missing("bubblewrap (bwrap) is not installed")
    return found


def python(data_dir: Path) -> Interpreter:
    """The interpreter that runs the server, without anything that was installed into it."""
    base = Path(sys.base_prefix).resolve()
    if not (base / "bin" / _VERSION).exists():
        raise Missing(f"there is no {_VERSION} where the interpreter comes from")
    is_system = base.is_relative_to("/usr")
    inside = base if is_system else Path("/python")
    binds = () if is_system else ((str(base), str(inside)),)
    return Interpreter(
        command=str(inside / "bin" / _VERSION),
        binds=binds,
        covered=_covered(data_dir, binds),
        variables=(("LD_LIBRARY_PATH", str(inside / "lib")),),
    )


def node(data_dir: Path) -> Interpreter:
    found = shutil.which("node")
    if not found:
        raise Missing("node is not installed")
    path = Path(found).resolve()
    if path.is_relative_to("/usr"):
        return Interpreter(str(path), covered=_covered(data_dir, ()))
    return Interpreter("/node", ((str(path), "/node"),), _covered(data_dir, ()))


def _covered(data_dir: Path, binds: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """What of the data, the application and its libraries would be seen through these mounts and /usr."""
    base = Path(sys.base_prefix)
    hidden = [
        data_dir,
        _APPLICATION,
        *map(Path, (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))),
    ]
    hidden += [base / "lib" / _VERSION / "site-packages", base / "lib" / _VERSION / "dist-packages"]
    hidden += [base / "lib/python3/dist-packages", base / "local/lib" / _VERSION / "dist-packages"]
    real = {path.resolve() for path in hidden if path.is_dir()}
    return tuple(
        str(Path(target, path.relative_to(source)))
        for source, target in (("/usr", "/usr"), *binds)
        for path in sorted(real)
        if path.is_relative_to(source)
    )


def for_nursery(interpreter: Interpreter) -> dict[str, Any]:
    """A sandbox around the process that forks a child for each call; it may open namespaces, they may not."""
    command = [interpreter.command, "-I", "-S", "-B", "/guest/start.py", "python"]
    return {
        "options": [*_CLOSED, "--cap-add", "CAP_SYS_ADMIN", *_system()],
        "binds": [(str(GUEST), "/guest"), *interpreter.binds],
        "rest": [
            *(*_covers(interpreter), *_devices(), "--dir", _TMP, "--remount-ro", "/"),
            *(*_environment(dict(interpreter.variables)), "--", *command),
        ],
        "limits": {"core": 0, "nofile": 256},
        "memory_mb": 0,
    }


def for_call(
    interpreter: Interpreter, command: list[str], binds: Binds, script: str | None = None
) -> dict[str, Any]:
    """A sandbox of its own for one call; the script is a path whose text is on its own descriptor."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": _TMP, "LANG": "C.UTF-8", "PYTHONPATH": PACKAGES}
    written = ["--perms", "0444", "--ro-bind-data", str(SCRIPT_PLACE), script] if script else []
    return {
        "options": [*_CLOSED, "--seccomp", str(SECCOMP_PLACE), *_system()],
        "binds": [(str(GUEST), "/guest"), *interpreter.binds, *binds],
        "rest": [
            *(*_covers(interpreter), *written, *_devices(), "--proc", "/proc"),
            *("--size", str(_TMP_BYTES), "--tmpfs", _TMP, "--size", str(_SHARED_BYTES), "--tmpfs", _SHARED),
            *("--remount-ro", "/", "--chdir", _TMP),
            *_environment({**variables, **dict(interpreter.variables)}),
            *("--", "/bin/sh", "-c", _LIMITED, "sh", interpreter.command, *command),
        ],
        "tmp_bytes": _TMP_BYTES,
    }


def packages(runtime: Runtime, folder: Path) -> tuple[str, str]:
    return (str(folder), PACKAGES) if runtime == "python" else (str(folder / "node_modules"), NODE_PACKAGES)


def memory(runtime: Runtime, memory_mb: int) -> tuple[int, int]:
    """What the processes of a sandbox may use together, in MB, and what each may reserve, in bytes."""
    used = memory_mb + _OWN_MB[runtime]
    return used, (used + _RESERVED_MB[runtime]) * 1024 * 1024


def _system() -> list[str]:
    """The libraries and programs of the machine, as they are spread here: merged into /usr or not."""
    words = ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    words += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if Path(name).is_symlink():
            words += ["--symlink", str(Path(name).readlink()), name]
        else:
            words += ["--ro-bind-try", name, name]
    return words


def _covers(interpreter: Interpreter) -> list[str]:
    return [word for path in interpreter.covered for word in ("--tmpfs", path, "--remount-ro", path)]


def _environment(variables: dict[str, str]) -> list[str]:
    return [word for pair in variables.items() for word in ("--setenv", *pair)]


def _devices() -> list[str]:
    words = ["--dir", "/dev"]
    for name in _DEVICES:
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        words += ["--symlink", target, f"/dev/{name}"]
    return words
