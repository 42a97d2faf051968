"""The filters as the kernel reads them, on both machines, run by a small interpreter of their language."""

import errno
import struct

import pytest

from retinue.adapters.sandbox.guest import bpf, filters
from retinue.adapters.sandbox.guest.bpf import (
    ALLOW,
    KILL,
    ArgumentCheck,
    SyscallArgument,
    UnsupportedMachine,
    build_allow_filter,
    build_deny_filter,
    errno_result,
)
from retinue.adapters.sandbox.guest.syscalls import NEWEST_SYSCALL, SYSCALL_NUMBERS

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def answer(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """Run the filter as the kernel would, and return its verdict."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, audit, 0, *padded)
    steps = [struct.unpack("=HBBI", program[place : place + 8]) for place in range(0, len(program), 8)]
    value = place = 0
    while True:
        code, if_true, if_false, operand = steps[place]
        place += 1
        if code == 0x20:
            value = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x54:
            value &= operand
        elif code == 0x06:
            return operand
        else:
            jumps = {0x15: value == operand, 0x25: value > operand, 0x35: value >= operand}
            place += if_true if jumps[code] else if_false


@pytest.fixture(params=MACHINES)
def machine(request):
    return request.param


def number(name: str, machine: str) -> int:
    found = SYSCALL_NUMBERS[name][list(MACHINES).index(machine)]
    assert found is not None
    return found


def test_only_named_calls_are_allowed(machine):
    program = build_allow_filter(["read", "openat"], machine=machine)
    audit = MACHINES[machine]
    assert answer(program, audit, number("read", machine)) == ALLOW
    assert answer(program, audit, number("openat", machine)) == ALLOW
    assert answer(program, audit, number("mount", machine)) == errno_result(errno.EPERM)
    assert answer(program, audit, 9999) == errno_result(errno.EPERM)


def test_only_named_and_unknown_calls_are_refused(machine):
    program = build_deny_filter(["mount", "ptrace"], machine=machine)
    audit = MACHINES[machine]
    assert answer(program, audit, number("read", machine)) == ALLOW
    assert answer(program, audit, number("mount", machine)) == errno_result(errno.EPERM)
    assert answer(program, audit, number("ptrace", machine)) == errno_result(errno.EPERM)
    assert answer(program, audit, NEWEST_SYSCALL) == ALLOW
    assert answer(program, audit, NEWEST_SYSCALL + 1) == errno_result(errno.ENOSYS)


def test_arguments_are_looked_at_all_together(machine):
    check = ArgumentCheck(
        "socketpair", (SyscallArgument(0, (1, 2)), SyscallArgument(1, (1,), 0xF)), errno.EAFNOSUPPORT
    )
    program = build_allow_filter(["read"], [check], machine)
    call = number("socketpair", machine)
    for family, kind, expected in [
        (1, 1, ALLOW),
        (2, 1, ALLOW),
        (1, 0x80001, ALLOW),
        (3, 1, errno_result(errno.EAFNOSUPPORT)),
        (1, 2, errno_result(errno.EAFNOSUPPORT)),
        (2, 0x80002, errno_result(errno.EAFNOSUPPORT)),
    ]:
        assert answer(program, MACHINES[machine], call, family, kind) == expected
    assert answer(program, MACHINES[machine], number("read", machine)) == ALLOW


def test_the_numbers_of_another_machine_end_the_process(machine):
    other = next(name for name in MACHINES if name != machine)
    assert (
        answer(build_allow_filter(["read"], machine=machine), MACHINES[other], number("read", other)) == KILL
    )


def test_the_second_set_of_numbers_is_refused():
    for program in (
        build_allow_filter(["read"], machine="x86_64"),
        build_deny_filter(["mount"], machine="x86_64"),
    ):
        assert answer(program, MACHINES["x86_64"], 0x40000000) == errno_result(errno.ENOSYS)


def test_clone3_does_not_exist_so_that_flags_can_be_read(machine):
    for program in (
        build_allow_filter(["read"], machine=machine),
        build_deny_filter(["mount"], machine=machine),
    ):
        assert answer(program, MACHINES[machine], number("clone3", machine)) == errno_result(errno.ENOSYS)


def test_a_machine_without_numbers_is_refused():
    with pytest.raises(UnsupportedMachine, match="riscv64"):
        build_allow_filter(["read"], machine="riscv64")


@pytest.mark.parametrize(
    ("made", "allowed", "refused"),
    [
        (
            filters.for_computing,
            ["read", "mmap", "futex"],
            ["openat", "execve", "kill", "connect", "socket", "clone"],
        ),
        (
            filters.for_functions,
            ["openat", "mkdirat"],
            ["execve", "kill", "connect", "socket", "clone", "unshare"],
        ),
        (filters.for_computing_with_threads, ["openat"], ["unlinkat", "execve", "socket", "ptrace", "kill"]),
        (
            filters.for_programs,
            ["openat", "clone", "execve", "kill"],
            ["mount", "ptrace", "bpf", "io_uring_setup"],
        ),
    ],
)
def test_each_kind_of_code_has_its_calls(monkeypatch, machine, made, allowed, refused):
    monkeypatch.setattr(bpf.platform, "machine", lambda: machine)
    more = {"execve": (59, 221), "kill": (62, 129), "connect": (42, 203)}
    program = made()

    def verdict(name: str) -> int:
        numbers = {**SYSCALL_NUMBERS, **more}[name]
        return answer(program, MACHINES[machine], numbers[list(MACHINES).index(machine)])

    assert {name: verdict(name) for name in allowed} == dict.fromkeys(allowed, ALLOW)
    assert [name for name in refused if verdict(name) == ALLOW] == []


@pytest.mark.parametrize(
    "flag", [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80]
)
def test_no_clone_opens_a_namespace(machine, monkeypatch, flag):
    monkeypatch.setattr(bpf.platform, "machine", lambda: machine)
    for made in (filters.for_programs, filters.for_computing_with_threads):
        verdict = answer(made(), MACHINES[machine], number("clone", machine), flag | 0x10000 | 17)
        assert verdict == errno_result(errno.EPERM)
