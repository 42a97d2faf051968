"""Bombs go off inside: each ends with its own kind of failure, and the next call is answered."""

import asyncio
import os
import time

import pytest

from tests.adapters.sandbox_ways import JAVASCRIPT, PYTHON, descendants, failure, on

pytest_plugins = ("tests.adapters.sandbox_fixtures",)
pytestmark = pytest.mark.usefixtures("unharmed")


def code(way, python: str, javascript: str) -> str:
    if way.runtime == "javascript":
        return f"function main(input) {{ {javascript} }}"
    lines = "".join(f"    {line}\n" for line in python.splitlines())
    return f"import os, sys\ndef main(input):\n{lines}"


@on(*PYTHON, *JAVASCRIPT)
async def test_an_endless_loop_is_killed_and_not_waited_for(way):
    before = time.monotonic()
    failed = await failure(way(code(way, "while True: pass", "for (;;) {}"), timeout_s=0.3))
    assert (failed.kind, failed.message) == ("timeout", "The code ran longer than 0.3 seconds.")
    assert time.monotonic() - before < 5


@on(*PYTHON, *JAVASCRIPT)
async def test_what_was_logged_before_a_timeout_is_kept(way):
    python = "print('so far', flush=True)\nwhile True: pass"
    # On a busy machine an interpreter takes seconds until it runs the first line.
    for timeout_s in (0.4, 4, 40):
        failed = await failure(
            way(code(way, python, "console.log('so far'); for (;;) {}"), timeout_s=timeout_s)
        )
        assert failed.kind == "timeout"
        # The WebAssembly CPython hands its output over at the end only.
        if failed.logs or way.name == "wasm.python":
            break
    assert failed.logs == "so far\n" or way.name == "wasm.python"


@on(*PYTHON, *JAVASCRIPT)
async def test_two_gigabytes_are_too_much(way):
    python = "held = bytearray(2 * 1024**3 - 1)"
    javascript = "return new Uint8Array(2 * 1024 ** 3).fill(1).length"
    assert (await failure(way(code(way, python, javascript)))).kind == "memory_exceeded"


@on(*PYTHON, *JAVASCRIPT)
async def test_memory_taken_little_by_little_is_too_much(way):
    python = "held = []\nwhile True: held.append(bytes([1]) * 1_000_000)"
    javascript = "const held = []; for (;;) held.push(new Array(100_000).fill(held.length))"
    assert (await failure(way(code(way, python, javascript), memory_mb=64))).kind == "memory_exceeded"


@on("bubblewrap.node")
async def test_memory_outside_of_the_heap_is_counted(way):
    source = "function main() { const held = []; for (;;) held.push(Buffer.alloc(10_000_000, 1)) }"
    assert (await failure(way(source, memory_mb=64))).kind == "memory_exceeded"


@on("bubblewrap.python")
async def test_memory_that_processes_share_is_counted(way):
    source = """
import mmap, os, time
def main(input):
    held = mmap.mmap(-1, 512 * 1024**2)
    for place in range(0, len(held), 4096):
        held[place] = 1
    time.sleep(5)
"""
    assert (await failure(way(source, memory_mb=64))).kind == "memory_exceeded"


@on("bubblewrap.python")
async def test_a_fork_bomb_runs_into_its_limit(way):
    source = """
import os, time
def main(input):
    children = 0
    try:
        while True:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            children += 1
    except BlockingIOError:
        return children
"""
    assert 1 < (await way(source)).output < 64


@on("bubblewrap.python")
async def test_a_fork_bomb_dies_with_its_sandbox(way):
    before = descendants(os.getpid())
    source = (
        "import os\ndef main(input):\n    while True:\n        try: os.fork()\n        except OSError: pass"
    )
    assert (await failure(way(source, timeout_s=0.5))).kind == "timeout"
    async with asyncio.timeout(5):
        while descendants(os.getpid()) - before:
            await asyncio.sleep(0.02)


@on("bubblewrap.python_functions", "bubblewrap.python")
async def test_a_file_of_64_megabytes_cannot_be_written(way):
    python = "with open('/tmp/large', 'wb') as file:\n    for _ in range(64): file.write(bytes(1024**2))"
    failed = await failure(way(code(way, python, "")))
    assert failed.kind == "runtime_error"
    assert "File too large" in failed.message or "No space left" in failed.message


@on("bubblewrap.python_functions", "bubblewrap.python")
async def test_many_files_cannot_fill_the_memory_of_the_machine(way):
    python = "for number in range(3_000_000): open(f'/tmp/{number}', 'w').close()"
    failed = await failure(way(code(way, python, ""), timeout_s=20))
    assert (failed.kind, "No space left" in failed.message or "too many files" in failed.message) == (
        "runtime_error",
        True,
    )


@on(*PYTHON, *JAVASCRIPT)
async def test_a_million_lines_leave_eight_kibibytes_of_logs(way):
    python = "for _ in range(1000): print('0123456\\n' * 1000, end='')\nreturn 'done'"
    javascript = "for (let n = 0; n < 1000; n++) console.log('0123456\\n'.repeat(1000)); return 'done'"
    outcome = await way(code(way, python, javascript), timeout_s=30)
    assert outcome.output == "done"
    assert len(outcome.logs) == 8 * 1024


@on("bubblewrap.python_functions", "bubblewrap.python")
async def test_logs_beyond_all_measure_are_too_much(way):
    python = "for _ in range(40): print('x' * 1024**2)"
    failed = await failure(way(code(way, python, "")))
    assert (failed.kind, len(failed.logs)) == ("output_too_large", 8 * 1024)


@on(*PYTHON, *JAVASCRIPT)
async def test_an_output_of_two_megabytes_is_too_large(way):
    failed = await failure(way(code(way, "return 'x' * 2_000_000", "return 'x'.repeat(2_000_000)")))
    assert (failed.kind, failed.message) == ("output_too_large", "The output is larger than 1 MiB.")


@on(*PYTHON, *JAVASCRIPT)
async def test_an_output_of_just_under_a_mebibyte_comes_through(way):
    outcome = await way(code(way, "return 'x' * (1024**2 - 2)", "return 'x'.repeat(1024 ** 2 - 2)"))
    assert len(outcome.output) == 1024**2 - 2


@on(*PYTHON, *JAVASCRIPT)
async def test_recursion_without_end_is_an_error_of_the_code(way):
    python = "def deeper(n): return deeper(n + 1)\nreturn deeper(0)"
    javascript = "const deeper = (n) => deeper(n + 1) + 1; return deeper(0)"
    assert (await failure(way(code(way, python, javascript)))).kind == "runtime_error"


@on(*PYTHON)
async def test_recursion_into_the_ground_crashes_only_its_process(way):
    python = "sys.setrecursionlimit(10**9)\ndef deeper(n): return [deeper(n + 1)]\nreturn repr(deeper(0))"
    failed = await failure(way(code(way, python, ""), memory_mb=16))
    assert failed.kind in {"runtime_error", "memory_exceeded"}


@on(*JAVASCRIPT)
async def test_a_regular_expression_that_explodes_is_killed(way):
    source = "function main() { return /^(a+)+$/.test('a'.repeat(40) + 'b') }"
    assert (await failure(way(source, timeout_s=0.5))).kind == "timeout"


@on("bubblewrap.python_functions")
async def test_a_thousand_descriptors_cannot_be_opened(way):
    python = "held = [open('/dev/null') for _ in range(1000)]"
    failed = await failure(way(code(way, python, "")))
    assert "Too many open files" in failed.message


@on("bubblewrap.python")
async def test_bytes_that_are_no_answer_are_refused(way):
    failed = await failure(way(code(way, "os.write(4, b'{\"output\": ')\nos._exit(0)", "")))
    assert (failed.kind, failed.message) == (
        "runtime_error",
        "The code ended without a result, exit code 0.",
    )


@on(*PYTHON)
async def test_an_output_nested_beyond_all_measure_is_an_error_of_the_code(way):
    python = "os.write(4, b'{\"output\":' + b'[' * 500_000)\nos._exit(0)"
    failed = await failure(way(code(way, python, "")))
    assert failed.kind == "runtime_error"
