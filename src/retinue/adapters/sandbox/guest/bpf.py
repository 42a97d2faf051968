"""Seccomp filters, assembled by hand: no library beyond the standard one may be needed inside a sandbox."""

import errno
import platform
import struct
from collections.abc import Iterable
from typing import NamedTuple

from .syscalls import NEWEST, NUMBERS

ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERRNO = 0x00050000

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_IF_EQUAL, _JUMP_IF_GREATER, _JUMP_IF_AT_LEAST = 0x15, 0x25, 0x35

# Offsets in the kernel's `struct seccomp_data`; of an argument we look at the lower half.
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
# x86_64 has a second set of numbers, with this bit, that a list of the first would not notice.
_X32 = 0x40000000

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


class Unsupported(OSError):
    """There is no filter for this machine."""


class Argument(NamedTuple):
    """One argument of a call, masked, has one of these values."""

    place: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


class Check(NamedTuple):
    """A call that is let through only while all these arguments are as they should be."""

    call: str
    arguments: tuple[Argument, ...]
    otherwise: int = errno.EPERM


def refusal(number: int) -> int:
    return _ERRNO | number


def allowing(calls: Iterable[str], checks: Iterable[Check] = (), machine: str | None = None) -> bytes:
    """A filter that refuses every call but these."""
    return _program(calls, ALLOW, checks, [_instruction(_RETURN, refusal(errno.EPERM))], machine)


def refusing(calls: Iterable[str], checks: Iterable[Check] = (), machine: str | None = None) -> bytes:
    """A filter that refuses these calls and those that are newer than our table."""
    rest = [
        _instruction(_JUMP_IF_GREATER, NEWEST, 0, 1),
        _instruction(_RETURN, refusal(errno.ENOSYS)),
        _instruction(_RETURN, ALLOW),
    ]
    return _program(calls, refusal(errno.EPERM), checks, rest, machine)


def _program(
    calls: Iterable[str], answer: int, checks: Iterable[Check], rest: list[bytes], machine: str | None
) -> bytes:
    column, audit = _machine(machine or platform.machine())
    program = [
        _instruction(_LOAD, _MACHINE),
        _instruction(_JUMP_IF_EQUAL, audit, 1, 0),
        _instruction(_RETURN, KILL),
        _instruction(_LOAD, _NUMBER),
        _instruction(_JUMP_IF_AT_LEAST, _X32, 0, 1),
        _instruction(_RETURN, refusal(errno.ENOSYS)),
    ]
    # A C library that is told clone3 does not exist uses clone, whose flags a filter can read.
    program += _if_called("clone3", column, [_instruction(_RETURN, refusal(errno.ENOSYS))])
    for check in checks:
        program += _if_called(check.call, column, _checked(check))
    for call in calls:
        program += _if_called(call, column, [_instruction(_RETURN, answer)])
    return b"".join(program + rest)


def _machine(name: str) -> tuple[int, int]:
    if name not in _MACHINES:
        raise Unsupported(f"there is no system call filter for {name}")
    return _MACHINES[name]


def _if_called(call: str, column: int, answer: list[bytes]) -> list[bytes]:
    """The answer, which ends in a return, jumped over for every other call."""
    number = NUMBERS[call][column]
    if number is None:
        return []
    return [_instruction(_JUMP_IF_EQUAL, number, 0, len(answer)), *answer]


def _checked(check: Check) -> list[bytes]:
    refuse = _instruction(_RETURN, refusal(check.otherwise))
    steps: list[bytes] = []
    for argument in check.arguments:
        steps += [_instruction(_LOAD, _ARGUMENTS + 8 * argument.place), _instruction(_AND, argument.mask)]
        left = len(argument.values)
        for value in argument.values:
            # A hit jumps over the values that are left and the refusal behind them.
            steps.append(_instruction(_JUMP_IF_EQUAL, value, left, 0))
            left -= 1
        steps.append(refuse)
    return [*steps, _instruction(_RETURN, ALLOW)]


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
