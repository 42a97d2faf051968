"""Tests of a document parser under an attacker's control: it reaches nothing and is ended soon."""

import asyncio
import errno
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from retinue.adapters import documents
from retinue.adapters.documents import DocumentTooLarge, ParserUnavailable, UnreadableDocument, parser
from retinue.adapters.sandbox import readers
from retinue.kit.fair_queue import QueuedCaller
from tests.adapters.own_process import children, resident

CHUNKING = """
import os, sys, time, json, socket, resource, ctypes
from retinue.adapters.sandbox.guest import escape
from .sections import Section
{loaded}

class Chunker:
    def __init__(self, size, overlap): pass

    def texts(self):
        {called}

    def chunks(self, section):
        return map(Section, self.texts())
"""
REPLACED = ("retinue", "adapters", "documents", "child", "chunking.py")
SPIN = "while True: pass"


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """Puts a parser of the attacker's into the child: what it does when loaded, and when given text."""

    def use(called: str, loaded: str = "") -> Path:
        source, folder = readers._SOURCE, tmp_path / "planted"
        monkeypatch.setattr(readers, "_SOURCE", folder)
        place = folder
        for name in REPLACED:
            place.mkdir()
            for entry in source.iterdir():
                if entry.name != name:
                    (place / entry.name).symlink_to(entry)
            source, place = source / name, place / name
        place.write_text(CHUNKING.format(called=called, loaded=loaded))
        return folder

    return use


@pytest.fixture
def upload(tmp_path) -> Path:
    path = tmp_path / "upload"
    path.write_text("hello")
    return path


MEMBER = QueuedCaller("acme", "member")


async def parse(path: Path):
    return await documents.parse(path, filename="a.txt", requester=MEMBER)


async def test_a_parser_that_was_taken_over_gets_nowhere(plant, upload, tmp_path, monkeypatch):
    monkeypatch.setenv("RETINUE_MASTER_KEY", "CANARY")
    secret = tmp_path / "secret"
    secret.write_text("CANARY")
    secret.chmod(0o644)
    paths = {
        "passwd": "/etc/passwd",
        "a file": str(secret),
        "the upload's name": str(upload),
        "itself": "/proc/self/environ",
    }
    async with await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        tries = f"escape.successes({paths!r}, {port}, may_fork=False)"
        plant(f"return [json.dumps({tries})]")
        found = json.loads((await parse(upload)).pieces[0].text)
        outside = await asyncio.to_thread(_try_outside, tries)
    assert found == []
    assert {"read passwd", "read a file", "start a process", "open a network connection"} <= set(outside)


def _try_outside(tries: str) -> list[str]:
    """The same attempts in a process that gave up nothing, to know that they would be noticed."""
    program = f"import json\nfrom retinue.adapters.sandbox.guest import escape\nprint(json.dumps({tries}))"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)
    found: list[str] = json.loads(made.stdout)
    return found


@pytest.mark.parametrize(
    ("attempt", "number"),
    [
        ("open('/etc/passwd')", errno.EPERM),
        ("open('/dev/null', 'w')", errno.EPERM),
        ("os.listdir('/')", errno.EPERM),
        ("os.stat('/etc/passwd')", errno.EPERM),
        ("socket.socket(socket.AF_INET)", errno.EPERM),
        ("socket.socket(socket.AF_UNIX)", errno.EPERM),
        ("os.execv(sys.executable, ['x'])", errno.EPERM),
        ("os.fork()", errno.EPERM),
        ("os.kill(os.getppid(), 9)", errno.EPERM),
        ("os.setuid(0)", errno.EPERM),
        ("os.write(0, b'x')", errno.EBADF),
        ("os.memfd_create('x')", errno.EPERM),
    ],
)
async def test_each_way_out_is_refused_by_the_kernel(plant, upload, attempt, number):
    plant(f"""
        try:
            {attempt}
        except OSError as error:
            return [str(error.errno)]
        return ["it worked"]""")
    assert (await parse(upload)).pieces[0].text == str(number)


async def test_the_child_has_three_descriptors_no_environment_and_no_root(plant, upload, monkeypatch):
    monkeypatch.setenv("RETINUE_MASTER_KEY", "CANARY")
    with Path("/etc/passwd").open() as file:
        os.set_inheritable(file.fileno(), True)
        memory = "resource.getrlimit(resource.RLIMIT_AS)[1]"
        said = f"DESCRIPTORS, dict(os.environ), os.getuid(), os.getgid(), {memory}"
        listed = "DESCRIPTORS = sorted(int(name) for name in os.listdir('/proc/self/fd'))"
        plant(f"return [json.dumps([{said}])]", loaded=listed)
        descriptors, variables, uid, gid, memory = json.loads((await parse(upload)).pieces[0].text)
    # One more is the folder that was being listed.
    assert descriptors == [0, 1, 2, 3]
    assert "CANARY" not in str(variables)
    assert set(variables) <= {"LC_CTYPE"}
    assert (uid, gid) == ((65534, 65534) if os.getuid() == 0 else (os.getuid(), os.getgid()))
    assert memory == 512 * 1024 * 1024


async def test_a_child_that_wants_too_much_memory_is_refused_it(plant, upload):
    plant("return [str(len(bytearray(600 * 1024 * 1024)))]")
    before = resident()
    with pytest.raises(DocumentTooLarge, match="memory"):
        await parse(upload)
    assert resident() - before < 24 * 1024 * 1024


async def test_a_child_that_never_ends_is_ended_and_gone(plant, upload, monkeypatch):
    monkeypatch.setattr(parser, "WALL_SECONDS", 1.0)
    plant(SPIN)
    running = children()
    with pytest.raises(DocumentTooLarge, match="too long"):
        await parse(upload)
    assert children() == running


async def test_a_child_that_uses_up_its_processor_time_is_named_as_slow(plant, upload):
    plant(f"""
        assert resource.getrlimit(resource.RLIMIT_CPU) == (30, 31)
        resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
        {SPIN}""")
    with pytest.raises(DocumentTooLarge, match="too long"):
        await parse(upload)


@pytest.mark.parametrize(
    "called",
    [
        "while True: os.write(1, b'x' * 65536)",
        'while True: os.write(1, b\'{"text": "x"}\\n\' * 1000)',
        "os.write(1, b'not json\\n'); time.sleep(60)",
        "os.write(1, b'{\"text\": 7}\\n'); time.sleep(60)",
        "return ['a\\0b']",
        "return ['\\ud800']",
        "return ['x' * 100_000]",
        "os._exit(0)",
        "ctypes.string_at(0)",
        "sys.exit(3)",
        "raise ValueError('a fault of ours')",
    ],
)
async def test_a_child_cannot_flood_crash_or_confuse_the_server(plant, upload, called):
    plant(called)
    before, running = resident(), children()
    with pytest.raises(UnreadableDocument):
        await parse(upload)
    assert children() == running
    assert resident() - before < 48 * 1024 * 1024


@pytest.fixture
def hanging_child(plant, tmp_path):
    """A child that says when it is there, by its process id, and then never ends."""
    pipe = tmp_path / "started"
    os.mkfifo(pipe)
    folder = plant(SPIN, loaded=f"open({str(pipe)!r}, 'w').write(str(os.getpid()))")
    return pipe, folder


async def test_a_child_killed_from_outside_fails_its_document_and_no_other(
    hanging_child, upload, monkeypatch
):
    pipe, _ = hanging_child
    reading = asyncio.create_task(parse(upload))
    os.kill(int(await asyncio.to_thread(pipe.read_text)), signal.SIGKILL)
    with pytest.raises(UnreadableDocument):
        await reading
    monkeypatch.undo()
    assert (await parse(upload)).pieces[0].text == "hello"


async def test_a_cancelled_reading_takes_its_child_along(hanging_child, upload):
    pipe, _ = hanging_child
    running = children()
    reading = asyncio.create_task(parse(upload))
    process_id = int(await asyncio.to_thread(pipe.read_text))
    assert process_id in children()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert children() == running


async def test_a_child_dies_with_the_server(hanging_child, upload, tmp_path):
    pipe, folder = hanging_child
    program = (
        "import asyncio, sys; from pathlib import Path; from retinue.adapters import documents\n"
        "from retinue.adapters.sandbox import readers\n"
        "from retinue.kit.fair_queue import NOBODY\n"
        "readers._SOURCE = Path(sys.argv[1])\n"
        "asyncio.run(documents.parse(Path(sys.argv[2]), filename='a.txt', requester=NOBODY))"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(folder), str(upload)]) as server:
        child = os.pidfd_open(int(await asyncio.to_thread(pipe.read_text)))
        server.kill()
    gone, _, _ = await asyncio.to_thread(select.select, [child], [], [], 10)
    os.close(child)
    assert gone


async def test_at_most_two_documents_are_read_at_once(plant, upload, tmp_path):
    pipe = tmp_path / "started"
    os.mkfifo(pipe)
    # Opened both ways, so that no child waits for a reader.
    line = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    plant(SPIN, loaded=f"os.write(os.open({str(pipe)!r}, os.O_WRONLY), b'x')")
    before = set(children())
    running = len(before)
    readings = [asyncio.create_task(parse(upload)) for _ in range(4)]
    await _read_bytes(line, 2)
    first, _second = set(children()) - before
    os.kill(first, signal.SIGKILL)
    await _read_bytes(line, 1)
    assert len(children()) == running + 2
    for reading in readings:
        reading.cancel()
    await asyncio.wait(readings)
    os.close(line)
    assert len(children()) == running


async def _read_bytes(line: int, count: int) -> None:
    while count:
        ready, _, _ = await asyncio.to_thread(select.select, [line], [], [], 20)
        assert ready
        count -= len(os.read(line, count))


WITHOUT = """#!{python}
import os, sys
from retinue.adapters.sandbox.guest import bpf, confine, syscalls
from retinue.adapters.sandbox.guest.bpf import ArgumentCheck, SyscallArgument
syscalls.SYSCALL_NUMBERS["landlock_create_ruleset"] = (444, 444)
confine.gain_nothing()
confine.filter_calls({filter})
os.execve({python!r}, [{python!r}, *sys.argv[1:]], {{}})
"""
MISSING = {
    "landlock": 'bpf.build_deny_filter(["landlock_create_ruleset"])',
    # All that the child asks of this call, but to install a filter.
    "seccomp": 'bpf.build_deny_filter([], [ArgumentCheck("prctl",'
    " (SyscallArgument(0, (1, 4, 15, 16, 38, 23, 24, 47)),), 22)])",
}


@pytest.mark.parametrize("missing", MISSING)
async def test_where_the_kernel_cannot_confine_it_nothing_is_read(upload, tmp_path, monkeypatch, missing):
    kernel = tmp_path / "without"
    kernel.write_text(WITHOUT.format(python=sys.executable, filter=MISSING[missing]))
    kernel.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(kernel))
    with pytest.raises(ParserUnavailable, match=missing + "|Landlock") as refusal:
        await parse(upload)
    assert refusal.value.code == "sandbox_unavailable"
    assert "cannot be parsed safely" in refusal.value.message


async def test_a_child_that_cannot_load_its_parser_says_so(plant, upload):
    plant("return []", loaded="import a_library_that_is_not_there")
    with pytest.raises(ParserUnavailable, match="does not start"):
        await parse(upload)
