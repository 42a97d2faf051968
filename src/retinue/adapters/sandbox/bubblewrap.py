"""The file system, limits and command line of a bubblewrap sandbox."""

import shutil
import sys
import sysconfig
from pathlib import Path

import msgspec

from retinue.adapters.sandbox.code import Runtime
from retinue.adapters.sandbox.guest_process import GUEST
from retinue.kit.json_types import JsonObject

SCRIPT_DESCRIPTOR, SECCOMP_DESCRIPTOR = 8, 9
PACKAGES, NODE_PACKAGES, SCRIPT_FOLDER = "/packages", "/node_modules", "/script"
# Paths inside the sandbox, each a separate file system.
_TMP, _SHARED = "/tmp", "/dev/shm"  # noqa: S108

_TMP_BYTES = 32 * 1024 * 1024
_SHARED_BYTES = 8 * 1024 * 1024
_MAX_PROCESSES = 64
# Memory that an interpreter uses on top of its code, and address space it reserves without using it.
_OWN_MB: dict[Runtime, int] = {"python": 16, "javascript": 64}
_RESERVED_MB: dict[Runtime, int] = {"python": 48, "javascript": 448}

_CLOSED = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom")
# RLIMIT_NPROC counts all processes of a user unless it is set inside the sandbox's user namespace, so a shell
# sets it there: bash calls it -u, dash -p.
_LIMITED_SHELL = f'ulimit -u {_MAX_PROCESSES} 2>/dev/null || ulimit -p {_MAX_PROCESSES} || exit 70; exec "$@"'

_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_APPLICATION = Path(__file__).parents[3]

Binds = list[tuple[str, str]]


class SandboxMissing(Exception):
    """A program that the sandbox needs is not installed on this machine."""


class Interpreter(msgspec.Struct, frozen=True):
    """A program inside the sandbox, its mounts, and the paths below them that stay hidden."""

    command: str
    binds: tuple[tuple[str, str], ...] = ()
    covered: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def program() -> str:
    path = shutil.which("bwrap")
    if not path:
        raise SandboxMissing("bubblewrap (bwrap) is not installed")
    return path


def python(data_dir: Path) -> Interpreter:
    """Return the interpreter that runs the server, without the packages installed into it."""
    base = Path(sys.base_prefix).resolve()
    if not (base / "bin" / _VERSION).exists():
        raise SandboxMissing(f"{_VERSION} is missing in the folder of the base interpreter")
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
        raise SandboxMissing("node is not installed")
    path = Path(found).resolve()
    if path.is_relative_to("/usr"):
        return Interpreter(str(path), covered=_covered(data_dir, ()))
    return Interpreter("/node", ((str(path), "/node"),), _covered(data_dir, ()))


def _covered(data_dir: Path, binds: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the paths of data, application and libraries that these mounts and /usr would expose."""
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


def fork_server_options(interpreter: Interpreter) -> JsonObject:
    """Return the sandbox of the fork server; it may create namespaces, its children may not."""
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


def call_options(
    interpreter: Interpreter, command: list[str], binds: Binds, script: str | None = None
) -> JsonObject:
    """Return a sandbox for one call; `script` is a path whose content is on its own descriptor."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": _TMP, "LANG": "C.UTF-8", "PYTHONPATH": PACKAGES}
    script_options = ["--perms", "0444", "--ro-bind-data", str(SCRIPT_DESCRIPTOR), script] if script else []
    return {
        "options": [*_CLOSED, "--seccomp", str(SECCOMP_DESCRIPTOR), *_system()],
        "binds": [(str(GUEST), "/guest"), *interpreter.binds, *binds],
        "rest": [
            *(*_covers(interpreter), *script_options, *_devices(), "--proc", "/proc"),
            *("--size", str(_TMP_BYTES), "--tmpfs", _TMP, "--size", str(_SHARED_BYTES), "--tmpfs", _SHARED),
            *("--remount-ro", "/", "--chdir", _TMP),
            *_environment({**variables, **dict(interpreter.variables)}),
            *("--", "/bin/sh", "-c", _LIMITED_SHELL, "sh", interpreter.command, *command),
        ],
        "tmp_bytes": _TMP_BYTES,
    }


def packages(runtime: Runtime, folder: Path) -> tuple[str, str]:
    return (str(folder), PACKAGES) if runtime == "python" else (str(folder / "node_modules"), NODE_PACKAGES)


def memory(runtime: Runtime, memory_mb: int) -> tuple[int, int]:
    """Return the memory limit of the whole sandbox in MB and the limit per process in bytes."""
    used = memory_mb + _OWN_MB[runtime]
    return used, (used + _RESERVED_MB[runtime]) * 1024 * 1024


def _system() -> list[str]:
    """Return the mounts of system libraries and programs, whether merged into /usr or not."""
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
