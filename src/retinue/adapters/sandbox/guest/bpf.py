"""Seccomp filters, assembled by hand so that a sandbox needs nothing but the standard library (ADR 9)."""

import errno
import platform
import struct
from collections.abc import Iterable
from typing import NamedTuple

from .syscalls import NEWEST_SYSCALL, SYSCALL_NUMBERS

ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERRNO = 0x00050000

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_IF_EQUAL, _JUMP_IF_GREATER, _JUMP_IF_AT_LEAST = 0x15, 0x25, 0x35

# Offsets in the kernel's `struct seccomp_data`; only the lower half of an argument is compared.
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
# The x32 ABI of x86_64 has a second set of numbers with this bit, which the lists do not cover.
_X32 = 0x40000000

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


class UnsupportedMachine(OSError):
    """System calls cannot be filtered on this machine."""


class SyscallArgument(NamedTuple):
    """Requires that an argument, masked, has one of these values."""

    place: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


class ArgumentCheck(NamedTuple):
    """A call that is allowed only if all these arguments match."""

    call: str
    arguments: tuple[SyscallArgument, ...]
    otherwise: int = errno.EPERM


def errno_result(number: int) -> int:
    return _ERRNO | number


def build_allow_filter(
    calls: Iterable[str], checks: Iterable[ArgumentCheck] = (), machine: str | None = None
) -> bytes:
    """Return a filter that denies every call except these."""
    return _program(calls, ALLOW, checks, [_instruction(_RETURN, errno_result(errno.EPERM))], machine)


def build_deny_filter(
    calls: Iterable[str], checks: Iterable[ArgumentCheck] = (), machine: str | None = None
) -> bytes:
    """Return a filter that denies these calls and those newer than our table."""
    rest = [
        _instruction(_JUMP_IF_GREATER, NEWEST_SYSCALL, 0, 1),
        _instruction(_RETURN, errno_result(errno.ENOSYS)),
        _instruction(_RETURN, ALLOW),
    ]
    return _program(calls, errno_result(errno.EPERM), checks, rest, machine)


def _program(
    calls: Iterable[str], action: int, checks: Iterable[ArgumentCheck], rest: list[bytes], machine: str | None
) -> bytes:
    column, audit = _machine(machine or platform.machine())
    program = [
        _instruction(_LOAD, _MACHINE),
        _instruction(_JUMP_IF_EQUAL, audit, 1, 0),
        _instruction(_RETURN, KILL),
        _instruction(_LOAD, _NUMBER),
        _instruction(_JUMP_IF_AT_LEAST, _X32, 0, 1),
        _instruction(_RETURN, errno_result(errno.ENOSYS)),
    ]
    # If clone3 does not exist, the C library uses clone, whose flags a filter can read.
    program += _if_called("clone3", column, [_instruction(_RETURN, errno_result(errno.ENOSYS))])
    for check in checks:
        program += _if_called(check.call, column, _checked(check))
    for call in calls:
        program += _if_called(call, column, [_instruction(_RETURN, action)])
    return b"".join(program + rest)


def _machine(name: str) -> tuple[int, int]:
    if name not in _MACHINES:
        raise UnsupportedMachine(f"system calls cannot be filtered on {name}")
    return _MACHINES[name]


def _if_called(call: str, column: int, block: list[bytes]) -> list[bytes]:
    """Return instructions that run the block, which ends in a return, for this call only."""
    number = SYSCALL_NUMBERS[call][column]
    if number is None:
        return []
    return [_instruction(_JUMP_IF_EQUAL, number, 0, len(block)), *block]


def _checked(check: ArgumentCheck) -> list[bytes]:
    refuse = _instruction(_RETURN, errno_result(check.otherwise))
    steps: list[bytes] = []
    for argument in check.arguments:
        steps += [_instruction(_LOAD, _ARGUMENTS + 8 * argument.place), _instruction(_AND, argument.mask)]
        left = len(argument.values)
        for value in argument.values:
            # A match jumps over the remaining values and the refusal.
            steps.append(_instruction(_JUMP_IF_EQUAL, value, left, 0))
            left -= 1
        steps.append(refuse)
    return [*steps, _instruction(_RETURN, ALLOW)]


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
