"""Confinement of a process before it touches user code; each step is irreversible and inherited."""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import stat
import struct
from collections.abc import Iterable

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x20000, 0x08000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_VERSION, _LANDLOCK_PATH_BENEATH = 1, 1
_LANDLOCK_READ_FILE = 0b0100
_LANDLOCK_READ = 0b1100  # READ_FILE and READ_DIR

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


def limit(**limits: int) -> None:
    """Lower resource limits: `limit(core=0, nofile=64)`."""
    for name, maximum in limits.items():
        kind = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(kind)[1]
        value = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(kind, (value, value))


def become(uid: int) -> None:
    """Switch from root to a user that owns nothing; RLIMIT_NPROC does not limit root."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def hide() -> None:
    """Prevent processes of the same user from inspecting this one."""
    _check_result(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def die_with(parent: int) -> None:
    """Exit when the parent exits, even if it already has."""
    _check_result(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        raise ProcessLookupError(parent)


def gain_nothing() -> None:
    """Prevent programs started from here from gaining more rights."""
    _check_result(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def drop_capabilities() -> None:
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _check_result(_libc.capset(header, bytes(24)), "capset")


def filter_calls(program: bytes) -> None:
    buffer = ctypes.create_string_buffer(program, len(program))
    program_header = ctypes.create_string_buffer(
        struct.pack("HP", len(program) // 8, ctypes.addressof(buffer))
    )
    _check_result(
        _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program_header), 0, 0), "seccomp"
    )


def landlock(readable: Iterable[str] = ()) -> bool:
    """Block all addresses, and all files except these; return False if the kernel has no Landlock."""
    version = _syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)
    if version < 1:
        return False
    files = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    addresses = 0b11 if version >= 4 else 0
    scopes = 0b11 if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attributes = struct.pack("=QQQ", files, addresses, scopes)
    rules = _check_result(_syscall(_LANDLOCK_CREATE, attributes, size, 0), "landlock")
    for path in readable:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rights = _LANDLOCK_READ if stat.S_ISDIR(os.fstat(opened).st_mode) else _LANDLOCK_READ_FILE
        beneath = struct.pack("=Qi", rights, opened)
        _check_result(_syscall(_LANDLOCK_ADD, rules, _LANDLOCK_PATH_BENEATH, beneath, 0), "landlock")
        os.close(opened)
    gain_nothing()
    _check_result(_syscall(_LANDLOCK_RESTRICT, rules, 0), "landlock")
    os.close(rules)
    return True


def unshare(namespaces: int) -> None:
    _check_result(_libc.unshare(namespaces), "unshare")


def enter(descriptor: int, namespaces: int) -> None:
    _check_result(_libc.setns(descriptor, namespaces), "setns")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode(),
    )
    _check_result(result, f"mount {target}")


def arrange(descriptors: list[int], places: list[int]) -> None:
    """Move each descriptor to its place and close all others."""
    # Copy them above all places first, so that no place is overwritten before it has been read.
    above = max(places) + 1
    copies = [_copy_above(descriptor, above) for descriptor in descriptors]
    for descriptor, place in zip(copies, places, strict=True):
        os.dup2(descriptor, place, inheritable=True)
    for gap in set(range(above)) - set(places):
        _close(gap)
    os.closerange(above, os.sysconf("SC_OPEN_MAX"))


def _copy_above(descriptor: int, minimum: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, minimum)


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    converted = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    return int(_libc.syscall(ctypes.c_long(number), *converted))


def _check_result(result: int, operation: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{operation}: {os.strerror(number)}")
    return result
